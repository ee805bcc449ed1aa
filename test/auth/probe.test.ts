import { describe, expect, it } from "vitest";
import { probe } from "../../src/auth/probe.ts";
import { openFetch, serve } from "../net/servers.ts";

type Answers = Record<string, { status: number; challenge?: string }>;

/** A server that answers by the HTTP method. */
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
  const challenge = await probe(openFetch(), url, { "x-team": "red" }, signal);
  return { challenge, seen };
}

describe("a server that is asked without a token", () => {
  it("says what it wants", async () => {
    const { challenge, seen } = await ask({ POST: { status: 401, challenge: "Bearer scope=a" } });
    expect(challenge).toEqual({ status: 401, header: "Bearer scope=a" });
    expect(seen).toEqual(["POST red"]);
  });

  it.each([200, 202, 400, 403, 500])("wants nothing where it answers %i", async (status) => {
    expect((await ask({ POST: { status } })).challenge).toBeUndefined();
  });

  it.each([404, 405])("of the older transport is asked as it wants to be (%i)", async (status) => {
    const { challenge, seen } = await ask({ POST: { status }, GET: { status: 401 } });
    expect(challenge).toEqual({ status: 401, header: undefined });
    expect(seen).toEqual(["POST red", "GET red"]);
    expect((await ask({ POST: { status }, GET: { status: 200 } })).challenge).toBeUndefined();
  });
});
