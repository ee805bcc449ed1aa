import { describe, expect, it } from "vitest";
import { parseChallenge } from "../../src/auth/challenge.ts";

const METADATA = "https://example.com/.well-known/oauth-protected-resource";

describe("a challenge", () => {
  it.each([
    [undefined, {}],
    ["", {}],
    ["Basic realm=x", {}],
    [`Bearer resource_metadata="${METADATA}"`, { resourceMetadata: METADATA }],
    [`Bearer resource_metadata=${METADATA}, scope=a`, { resourceMetadata: METADATA, scope: "a" }],
    ['Bearer error="invalid_token", scope="read write"', { scope: "read write" }],
    ['bearer SCOPE="a"', { scope: "a" }],
    ['Bearer scope=""', {}],
    ['Bearer x_scope="a"', {}],
    ['Bearer error="x",scope="a"', { scope: "a" }],
  ])("%j is read as %j", (header, expected) => {
    expect(parseChallenge({ status: 401, header })).toEqual({
      ...expected,
      insufficientScope: false,
    });
  });

  it.each([
    [403, 'Bearer error="insufficient_scope", scope="a"', true],
    [403, "Bearer error=insufficient_scope", true],
    [401, 'Bearer error="insufficient_scope"', false],
    [403, 'Bearer error="invalid_token"', false],
    [403, 'Bearer error_description="insufficient_scope"', false],
  ])("%i %s is about scope: %s", (status, header, insufficientScope) => {
    expect(parseChallenge({ status, header })).toMatchObject({ insufficientScope });
  });

  it("of any length takes no time", () => {
    const header = `Bearer ${"scope=".repeat(1_000_000)}`;
    expect(parseChallenge({ status: 401, header })).toHaveProperty("insufficientScope", false);
  });
});
