import { describe, expect, it } from "vitest";
import { parseChallenge, requestChallenge } from "../../../src/core/auth/challenge.ts";
import { openFetch, serve } from "../net/servers.ts";

const METADATA = "https://example.com/.well-known/oauth-protected-resource";

describe("parseChallenge", () => {
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

  it("reads a header of any length quickly", () => {
    const header = `Bearer ${"scope=".repeat(1_000_000)}`;
    expect(parseChallenge({ status: 401, header })).toHaveProperty("insufficientScope", false);
  });
});

type Answers = Record<string, { status: number; challenge?: string }>;

/** Requests a challenge from a server that answers by HTTP method. */
async function ask(answers: Answers) {
  const seen: string[] = [];
  const url = await serve((request, response) => {
    const { method = "" } = request;
    seen.push(`${method} ${String(request.headers["x-team"])}`);
    const { status = 500, challenge } = answers[method] ?? {};
    response.writeHead(status, challenge === undefined ? {} : { "www-authenticate": challenge });
    response.end();
  });
  const { signal } = new AbortController();
  const challenge = await requestChallenge(openFetch(), url, { "x-team": "red" }, signal);
  return { challenge, seen };
}

describe("requestChallenge", () => {
  it("returns the challenge of a 401", async () => {
    const { challenge, seen } = await ask({ POST: { status: 401, challenge: "Bearer scope=a" } });
    expect(challenge).toEqual({ status: 401, header: "Bearer scope=a" });
    expect(seen).toEqual(["POST red"]);
  });

  it.each([200, 202, 400, 403, 500])("returns the status of a %i", async (status) => {
    expect((await ask({ POST: { status } })).challenge).toEqual({ status, header: undefined });
  });

  it.each([404, 405])("uses GET for the older transport (POST answers %i)", async (status) => {
    const { challenge, seen } = await ask({ POST: { status }, GET: { status: 401 } });
    expect(challenge).toEqual({ status: 401, header: undefined });
    expect(seen).toEqual(["POST red", "GET red"]);
    const { challenge: none } = await ask({ POST: { status }, GET: { status: 200 } });
    expect(none).toEqual({ status: 200, header: undefined });
  });
});
