import { describe, expect, it } from "vitest";
import { RequestRate } from "../../../../src/serve/gateway/access/request-rate.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { gatewaySettings } from "../../../../src/core/config/gateway.ts";
import { openRig } from "./rig.ts";

describe("a bearer token", () => {
  it("is always needed", async () => {
    const { send } = await openRig();
    const reply = await send([]);
    expect(reply).toMatchObject({
      status: 401,
      body: expect.stringContaining("plugboard tokens add"),
    });
    expect(reply.headers["www-authenticate"]).toBe("Bearer");
  });

  it("that the gateway made is for every agent", async () => {
    const { sendWith, token } = await openRig();
    for (const path of ["/mcp", "/agents/coder/mcp", "/all"]) {
      expect(await sendWith(token, path)).toMatchObject({
        status: 200,
        body: { caller: { id: "token:default", label: "default" } },
      });
    }
  });

  it("with a name brings its agents and its policy", async () => {
    const { sendWith, tokens } = await openRig();
    const policy = { tools: { deny: ["docs/*"] } };
    const { text, token } = await tokens.add({ name: "ci", agents: ["coder"], policy });
    expect(await sendWith(text, "/agents/coder/mcp")).toMatchObject({
      status: 200,
      body: { caller: { id: `token:${token.id}`, label: "ci" }, agents: ["coder"], policy },
    });
    const but = "but for coder; the address of an agent is /agents/<id>/mcp";
    for (const [path, why] of [
      ["/mcp", `this token is not for the agent 'default', ${but}`],
      ["/agents/other/mcp", `this token is not for the agent 'other', ${but}`],
      ["/all", "this token is not for the gateway as a whole: that takes a token for every agent"],
    ]) {
      const reply = await sendWith(text, path);
      expect([reply.status, reply.body]).toEqual([403, why]);
      expect(reply.headers["www-authenticate"]).toBe('Bearer error="insufficient_scope"');
    }
  });

  it("stops working within a second when it is revoked, and at once when it expires", async () => {
    const { sendWith, tokens, clock } = await openRig();
    const revoked = await tokens.add({ name: "a" });
    const expiring = await tokens.add({ name: "b", expiresAt: clock.now() + 5000 });
    for (const { text } of [revoked, expiring]) expect((await sendWith(text)).status).toBe(200);
    await tokens.revoke("a");
    await clock.advance(1000);
    expect((await sendWith(revoked.text)).status).toBe(401);
    expect((await sendWith(expiring.text)).status).toBe(200);
    await clock.advance(4000);
    const reply = await sendWith(expiring.text);
    expect(reply.status).toBe(401);
    expect(reply.headers["www-authenticate"]).toBe('Bearer error="invalid_token"');
  });

  it.each<[string, (token: string) => string[]]>([
    ["a scheme in lower case", (token) => [`authorization: bearer ${token}`]],
    ["a scheme in capitals", (token) => [`AUTHORIZATION: BEARER ${token}`]],
    ["more spaces", (token) => [`Authorization:   Bearer   ${token}   `]],
  ])("is taken with %s", async (_, lines) => {
    const { send, token } = await openRig();
    expect((await send(lines(token))).status).toBe(200);
  });

  it.each<[string, number, (token: string) => string[]]>([
    ["another scheme", 401, (token) => [`Authorization: Basic ${token}`]],
    ["no scheme", 401, (token) => [`Authorization: ${token}`]],
    ["nothing after the scheme", 401, () => ["Authorization: Bearer "]],
    ["an empty value", 401, () => ["Authorization:"]],
    ["a tab in place of the space", 401, (token) => [`Authorization: Bearer\t${token}`]],
    ["something after it", 401, (token) => [`Authorization: Bearer ${token} x`]],
    ["a comma and a second token", 401, (token) => [`Authorization: Bearer ${token}, Bearer x`]],
    ["quotes", 401, (token) => [`Authorization: Bearer "${token}"`]],
    ["one character less", 401, (token) => [`Authorization: Bearer ${token.slice(0, -1)}`]],
    ["another last character", 401, (token) => [`Authorization: Bearer ${token.slice(0, -1)}~`]],
    ["characters that are not ASCII", 401, (token) => [`Authorization: Bearer ${token}é\u00a0`]],
    ["20 KB of it", 401, () => [`Authorization: Bearer ${"x".repeat(20_000)}`]],
    ["20 KB of spaces", 401, (token) => [`Authorization: Bearer${" ".repeat(20_000)}${token}`]],
    [
      "a second header of the same name",
      400,
      (token) => [`Authorization: Bearer ${token}`, `authorization: Bearer ${token}`],
    ],
    [
      "a wrong one first and the right one second",
      400,
      (token) => ["Authorization: Bearer x", `Authorization: Bearer ${token}`],
    ],
    ["another header", 401, (token) => [`X-Authorization: Bearer ${token}`]],
  ])("is refused with %s", async (_, status, lines) => {
    const { send, token } = await openRig();
    expect((await send(lines(token))).status).toBe(status);
  });

  it("in the address does not count", async () => {
    const { send, token } = await openRig();
    expect((await send([], `/mcp?access_token=${token}`)).status).toBe(401);
  });

  it("that is wrong is never repeated in the answer", async () => {
    const { sendWith } = await openRig();
    const reply = await sendWith("plug_my-secret");
    expect(JSON.stringify(reply)).not.toContain("my-secret");
  });
});

describe("limits", () => {
  const limits = { ...gatewaySettings().limits, requestsPerMinute: 3 };

  it("each caller has its own rate, and is told when to come back", async () => {
    const { sendWith, token, tokens, clock } = await openRig({ limits });
    const { text } = await tokens.add({ name: "other" });
    for (let round = 0; round < 3; round += 1) expect((await sendWith(token)).status).toBe(200);
    const reply = await sendWith(token);
    expect(reply).toMatchObject({ status: 429, headers: { "retry-after": "20" } });
    expect((await sendWith(text)).status).toBe(200);
    await clock.advance(20_000);
    expect((await sendWith(token)).status).toBe(200);
    expect((await sendWith(token)).status).toBe(429);
  });

  it.each([
    [1, [200, 429]],
    [false, [200, 200, 200, 200, 200]],
  ])("a token's own rate of %j counts in its place", async (rateLimit, statuses) => {
    const { sendWith, tokens } = await openRig({ limits });
    const { text } = await tokens.add({ name: "ci", policy: { rateLimit: rateLimit as false } });
    for (const status of statuses) expect((await sendWith(text)).status).toBe(status);
  });

  it("each caller has its own bytes in a minute, and the largest request gets through", () => {
    const clock = new ManualClock();
    const rate = new RequestRate(clock);
    const take = (caller: string, bytes: number): number => rate.take(caller, 6000, bytes);
    expect([take("a", 5000), take("a", 2000), take("b", 9000), take("b", 1)]).toEqual([
      0, 10_000, 0, 10,
    ]);
  });

  it("wrong tokens are bounded for each address, and right ones go on", async () => {
    const { sendWith, token, clock } = await openRig();
    const statuses = new Set<number>();
    for (let round = 0; round < 40; round += 1) statuses.add((await sendWith("plug_wrong")).status);
    expect([...statuses]).toEqual([401, 429]);
    expect((await sendWith(token)).status).toBe(200);
    await clock.advance(60_000);
    expect((await sendWith("plug_wrong")).status).toBe(401);
  });

  it("behind a proxy, the address is the one that the proxy adds", async () => {
    const { send } = await openRig({ behindProxy: true });
    const from = (address: string): Promise<{ status: number }> =>
      send(["Authorization: Bearer x", `X-Forwarded-For: 203.0.113.9, ${address}`]);
    for (let round = 0; round < 30; round += 1) await from("198.51.100.1");
    expect((await from("198.51.100.1")).status).toBe(429);
    expect((await from("198.51.100.2")).status).toBe(401);
  });

  it("without a proxy, nobody chooses their address", async () => {
    const { send } = await openRig();
    let status = 0;
    for (let round = 0; round < 31; round += 1) {
      const lines = ["Authorization: Bearer x", `X-Forwarded-For: 198.51.100.${round}`];
      ({ status } = await send(lines));
    }
    expect(status).toBe(429);
  });
});
