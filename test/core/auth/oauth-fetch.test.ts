import { describe, expect, it } from "vitest";
import { oauthFetch } from "../../../src/core/auth/oauth-fetch.ts";
import type { GuardedFetch, GuardedResponse } from "../../../src/core/net/fetch.ts";
import { addressRules, type NetworkPolicy } from "../../../src/core/net/policy.ts";
import { failureOf, openFetch, serve, STRICT } from "../net/servers.ts";

function towards(server: string, policy: NetworkPolicy = STRICT, fetch = openFetch({ policy })) {
  return oauthFetch(fetch, addressRules(policy), new URL(server));
}

/** A network that must not be used. */
const unreachable: GuardedFetch = Object.assign(
  (): Promise<GuardedResponse> => Promise.reject(new Error("it was fetched")),
  { close: async () => {} },
);

describe("a URL from a server on the internet", () => {
  it.each([
    ["http://127.0.0.1:9/x", "example.com redirects to this machine (127.0.0.1:9)"],
    ["http://localhost/x", "example.com redirects to this machine (localhost)"],
    ["https://[::1]/x", "example.com redirects to this machine ([::1])"],
    ["https://10.0.0.1/x", "10.0.0.1 is a private address"],
    ["https://169.254.169.254/x", "169.254.169.254"],
    ["http://other.example/x", "is plain http, which is only allowed to this machine"],
    ["file:///etc/passwd", "file: is not a scheme that Plugboard connects to"],
    ["https://a:b@other.example/x", "has a user name or password in it"],
  ])("must not be %s", async (target, reason) => {
    const fetch = towards("https://example.com/mcp", STRICT, unreachable);
    const error = await failureOf(Promise.resolve(fetch(target)));
    expect(error).toMatchObject({ code: "REFUSED_ADDRESS" });
    expect((error as Error).message).toContain(reason);
  });

  it("may be one that the operator allows", async () => {
    const origin = await serve((_, response) => response.end("{}"));
    const allowed = { ...STRICT, allow: ["127.0.0.1"] };
    const response = await towards("https://example.com/mcp", allowed)(`${origin}/x`);
    expect(await response.json()).toEqual({});
  });
});

describe("a request", () => {
  it("sends a form or text and returns the whole response", async () => {
    const seen: string[] = [];
    const origin = await serve((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        seen.push(`${request.method} ${String(request.headers["x-a"])} ${body}`);
        response.writeHead(request.method === "GET" ? 204 : 201, { "x-b": "c" });
        response.end(request.method === "GET" ? undefined : "fine");
      });
    });
    const fetch = towards(origin);
    const headers = { "x-a": "1" };
    const form = new URLSearchParams({ a: "b" });
    expect((await fetch(new URL(origin), { headers })).status).toBe(204);
    const answer = await fetch(origin, { method: "POST", headers, body: form });
    expect([answer.status, answer.headers.get("x-b"), await answer.text()]).toEqual([
      201,
      "c",
      "fine",
    ]);
    await fetch(origin, { method: "POST", headers, body: "text" });
    expect(seen).toEqual(["GET 1 ", "POST 1 a=b", "POST 1 text"]);
  });

  it("with another method is refused", async () => {
    const fetch = towards("http://127.0.0.1:1", STRICT, unreachable);
    await expect(fetch("http://127.0.0.1:1", { method: "PUT" })).rejects.toMatchObject({
      code: "PROTOCOL",
    });
    const binary = { method: "POST", body: new Uint8Array(1) };
    await expect(fetch("http://127.0.0.1:1", binary)).rejects.toThrow(TypeError);
  });

  it("ends with the signal", async () => {
    const origin = await serve(() => {});
    const over = new AbortController();
    const fetch = oauthFetch(openFetch(), addressRules(STRICT), new URL(origin), over.signal);
    const answer = failureOf(Promise.resolve(fetch(origin)));
    over.abort();
    expect(await answer).toMatchObject({ code: "CANCELLED" });
  });

  it("ends at the deadline if the response does not", async () => {
    const origin = await serve((_, response) => response.end("x".repeat(2 * 1024 * 1024)));
    expect(await failureOf(Promise.resolve(towards(origin)(origin)))).toMatchObject({
      code: "MESSAGE_TOO_LARGE",
    });
  });
});
