import { describe, expect, it } from "vitest";
import { withHidden } from "../../../src/cli/page/hidden.ts";
import { withoutCredentials } from "../../../src/core/board/without-credentials.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";

const stdio = {
  command: "server",
  args: [
    "--token",
    "tok-1-4f9a8b7c6d",
    "--api-key=key-2-5e4d3c2b1a",
    "--secret",
    "sec-3-0a1b2c3d4e",
  ],
  env: { API_TOKEN: "env-4-9f8e7d6c5b" },
};
const remote = {
  url: "https://me:pass-5-1q2w3e4r@example.com/mcp?api_key=key-6-7u8i9o0p",
  headers: { Authorization: "Bearer bea-7-a1s2d3f4g5" },
};

const shown = (entry: object): JsonObject => ({ ...withoutCredentials(entry) });

describe("an entry that is edited without its credentials", () => {
  it("keeps each of them, wherever in a value it stands", () => {
    for (const entry of [stdio, remote]) {
      expect(JSON.stringify(shown(entry))).not.toMatch(/-\d-/);
      expect(withHidden({ ...shown(entry), lazy: true }, entry)).toEqual({ ...entry, lazy: true });
    }
    expect(shown(remote)["headers"]).toEqual({ Authorization: "Bearer [REDACTED]" });
  });

  it("keeps those of arguments that were moved, with others added and removed", () => {
    const [token, first, key, secret, third] = stdio.args;
    const given = shown(stdio);
    given["args"] = [
      "-v",
      "--api-key=[REDACTED]",
      "--secret",
      "[REDACTED]",
      "--token",
      "[REDACTED]",
    ];
    expect(withHidden(given, stdio)["args"]).toEqual(["-v", key, secret, third, token, first]);
    given["args"] = ["--secret", "[REDACTED]"];
    expect(withHidden(given, stdio)["args"]).toEqual([secret, third]);
  });

  it("takes a new one as it is given", () => {
    const given = shown(remote);
    given["headers"] = { Authorization: "Bearer new" };
    expect(withHidden(given, remote)).toEqual({
      ...remote,
      headers: { Authorization: "Bearer new" },
    });
  });

  it.each([
    ["headers.Authorization", remote, { headers: { Authorization: "Basic [REDACTED]" } }],
    ["headers.Other", remote, { headers: { Other: "Bearer [REDACTED]" } }],
    ["url", remote, { url: "https://me:[REDACTED]@elsewhere.example/mcp" }],
    ["env.OTHER", stdio, { env: { OTHER: "[REDACTED]" } }],
    ["args[0]", stdio, { args: ["--other=[REDACTED]"] }],
    ["args[1]", stdio, { args: ["--other", "[REDACTED]"] }],
    [
      "args[1]",
      { command: "x", args: ["--token", "tok-1-4f9a8b7c6d"] },
      { args: ["--other", "[REDACTED]", "--token", "[REDACTED]"] },
    ],
  ])("names %s, whose credential may not be the one that was there", (key, written, edited) => {
    expect(() => withHidden({ ...shown(written), ...edited }, written)).toThrow(
      `\`${key}\` still has [REDACTED] in it; write the whole value`,
    );
  });
});
