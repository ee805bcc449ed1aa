// The JWTs with which people come are exchanged for the tokens of a server: who gets which token, how often the
// authorization server is asked, when it ends, and what a person reads who gets none.

import type { ServerResponse } from "node:http";
import { expect, it, vi } from "vitest";
import type { JsonObject } from "../../../src/core/types/json.ts";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import type { OAuthFixture } from "../../fixtures/oauth/oauth.ts";
import { MovableClock } from "../../support/movable-clock.ts";
import { INITIALIZE, legacy } from "../endpoint/harness.ts";
import { GATEWAY_CLIENT, openRig, type Rig } from "./people-rig.ts";

const SOON = { timeout: 20_000, interval: 50 };
const MINUTE = 60_000;

const exchanging = (more: object = {}) => {
  return ({ issuer }: OAuthFixture): Omit<ServerConfig, "url"> => ({
    oauth: {
      grant: "token_exchange",
      issuer,
      clientId: GATEWAY_CLIENT.client_id,
      clientSecret: GATEWAY_CLIENT.client_secret,
      ...more,
    },
  });
};

async function whoami(rig: Rig, who: string): Promise<string> {
  const asked = { name: "personal__whoami", arguments: {} };
  return JSON.stringify(await rig.ask(who, "tools/call", asked));
}

async function auditOf(rig: Rig): Promise<object[]> {
  const lines: object[] = [];
  for await (const line of rig.state.audit.read({})) lines.push(line);
  return lines;
}

function exchanges(rig: Rig): Readonly<Record<string, string>>[] {
  return rig.oauth.requests
    .filter(({ params }) => params["grant_type"]?.endsWith(":token-exchange"))
    .map(({ params }) => params);
}

it("gives each person the tools and results of a token that was made of their own JWT", async () => {
  const rig = await openRig({ server: exchanging() });
  const [ann, bob] = [await rig.jwt("ann"), await rig.jwt("bob")];
  const otherAnn = await rig.jwt("ann", rig.other);
  const token = await rig.token("ci");
  const people = [
    [ann, "ann"],
    [bob, "bob"],
    [otherAnn, "other ann"],
  ] as const;
  // All at once, the first time: nobody waits in vain for somebody else's exchange.
  const lists = await Promise.all(people.map(([who]) => rig.tools(who)));
  for (const [at, [, name]] of people.entries()) {
    expect(lists[at]).toEqual(["personal__whoami", expect.stringMatching(`secret_of_${name[0]}`)]);
  }
  const said = await Promise.all(people.flatMap(([who]) => [whoami(rig, who), whoami(rig, who)]));
  for (const [at, text] of said.entries()) {
    expect(text).toContain(`I am ${people[Math.floor(at / 2)]?.[1]}"`);
  }
  for (const [method, params] of [
    ["resources/list", {}],
    ["prompts/list", {}],
    ["resources/read", { uri: "note://ann" }],
    ["prompts/get", { name: "personal__prompt_of_ann" }],
  ] as const) {
    const forBob = JSON.stringify((await rig.ask(bob, method, params))["result"] ?? {});
    expect(forBob, method).not.toMatch(/of ann|of_ann|I am ann|for ann/);
  }
  // Each JWT was exchanged once, and asked for what is configured.
  expect(exchanges(rig)).toHaveLength(3);
  expect(exchanges(rig)[0]).toMatchObject({
    subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
    requested_token_type: "urn:ietf:params:oauth:token-type:access_token",
    resource: rig.oauth.url,
  });
  // The server has never seen what callers came with; nor has anybody seen a token of the gateway.
  const seen = JSON.stringify(rig.oauth.resourceRequests);
  for (const [who] of people) expect(seen).not.toContain(who.slice(7));
  expect(await rig.tools(token)).toEqual([]);
  const refused = await whoami(rig, token);
  expect(refused).toContain("you have come without one");
  expect(refused).toContain("gateway.jwt.issuers");
  expect(JSON.stringify(rig.oauth.requests)).not.toContain(token.slice(7));
  // There is nothing to sign in to.
  const names = JSON.stringify(await rig.ask(ann, "tools/list"));
  expect(names).not.toContain("sign_in");
  const page = await fetch(`${rig.url}/sign-in/default/personal`, {
    method: "POST",
    body: new URLSearchParams({ token: ann.slice(7) }),
    headers: { origin: rig.url },
  });
  expect(await page.text()).toContain("Nobody signs in to");
  // Who made each call is in the audit.
  await vi.waitFor(async () => expect(await auditOf(rig)).toHaveLength(7), SOON);
  const audit = JSON.stringify(await auditOf(rig));
  expect(audit).toContain(`"caller":"ann (${new URL(rig.provider.url).host})"`);
  for (const [who] of people) expect(audit).not.toContain(who.slice(7));
});

it("exchanges once for everybody who waits, again before the token ends, and never for longer than the JWT", async () => {
  const clock = new MovableClock();
  const rig = await openRig({
    clock,
    server: exchanging({ audience: "personal" }),
    expiresIn: 120,
  });
  const ann = await rig.jwt("ann");
  const many = await Promise.all(Array.from({ length: 20 }, () => whoami(rig, ann)));
  for (const text of many) expect(text).toContain("I am ann");
  expect(exchanges(rig)).toHaveLength(1);
  expect(exchanges(rig)[0]).toMatchObject({ audience: "personal" });
  expect(exchanges(rig)[0]).not.toHaveProperty("resource");
  clock.forward(1.9 * MINUTE);
  await Promise.all(Array.from({ length: 20 }, () => whoami(rig, ann)));
  expect(exchanges(rig)).toHaveLength(2);
  // The server has lost it, and says so.
  rig.oauth.revokeAll();
  expect(await whoami(rig, ann)).toContain("I am ann");
  expect(exchanges(rig)).toHaveLength(3);
  // The JWT has ended: the gateway takes it no longer, and nothing is sent to the server in its name.
  clock.forward(10 * MINUTE);
  const { length } = rig.oauth.resourceRequests;
  expect(await rig.ask(ann, "tools/list")).toMatchObject({ error: expect.anything() });
  clock.forward(MINUTE);
  // A new one goes on.
  const again = await rig.jwt("ann");
  expect(await whoami(rig, again)).toContain("I am ann");
  const before = exchanges(rig).length;
  expect(exchanges(rig).at(-1)?.["subject_token"]).toBe(again.slice(7));
  expect(await whoami(rig, again)).toContain("I am ann");
  expect(exchanges(rig)).toHaveLength(before);
  const sent = rig.oauth.resourceRequests.slice(length).map(({ headers }) => headers.authorization);
  const old = rig.oauth.tokens.filter(({ state }) => state !== "live");
  for (const { token: gone } of old) expect(sent).not.toContain(`Bearer ${gone}`);
});

it("ends the connection of somebody whose JWT has ended, and goes on with the next", async () => {
  const clock = new MovableClock();
  const rig = await openRig({ clock, server: exchanging() });
  const first = await rig.jwt("ann");
  const begun = await rig.send(first, legacy("initialize", INITIALIZE));
  const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
  const called = legacy("tools/call", { name: "personal__whoami", arguments: {} });
  const answer = await rig.send(first, called, session);
  expect(JSON.stringify(answer.message)).toContain("I am ann");
  const { length } = rig.oauth.resourceRequests;
  clock.forward(11 * MINUTE);
  // The session is one of the person, and not of the JWT.
  const second = await rig.jwt("ann");
  const next = await rig.send(second, called, session);
  expect(JSON.stringify(next.message)).toContain("I am ann");
  // It was connected anew, with a token of the new JWT alone.
  const after = rig.oauth.resourceRequests.slice(length);
  expect(after.map(({ body }) => (body as JsonObject | undefined)?.["method"])).toContain(
    "initialize",
  );
  // Somebody else with the session's id has no session.
  const bob = await rig.send(await rig.jwt("bob"), called, session);
  expect(bob.status).toBe(404);
});

it("keeps JWTs of one person apart that may do other things", async () => {
  const rig = await openRig({ server: exchanging() });
  const full = await rig.jwt("ann", rig.provider, { scope: "read write" });
  const less = await rig.jwt("ann", rig.provider, { scope: "read" });
  const subjects = new Map<string, string>([
    [full.slice(7), "ann in full"],
    [less.slice(7), "ann with less"],
  ]);
  rig.exchange.subjectOf = (token) => subjects.get(token);
  expect(await whoami(rig, full)).toContain("I am ann in full");
  expect(await whoami(rig, less)).toContain("I am ann with less");
  const both = [full, less, full, less];
  const said = await Promise.all(both.map((who) => whoami(rig, who)));
  for (const [at, text] of said.entries()) {
    expect(text).toContain(at % 2 === 0 ? "I am ann in full" : "I am ann with less");
  }
  // One session of hers, too.
  const begun = await rig.send(full, legacy("initialize", INITIALIZE));
  const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
  for (const who of both) {
    const called = legacy("tools/call", { name: "personal__whoami", arguments: {} });
    const { message } = await rig.send(who, called, session);
    expect(JSON.stringify(message)).toContain(who === full ? "in full" : "with less");
  }
});

it("takes nobody for somebody else, whatever they are called", async () => {
  const rig = await openRig({ server: exchanging() });
  const long = "a".repeat(254);
  const subjects = [
    "ann",
    "ann ",
    " ann",
    "ann\t",
    "ann\nboss",
    "ANN",
    "#ann",
    "x#ann",
    `${long}1`,
    `${long}2`,
    '"}],"owner":true',
    "../ann",
    "a\u0301",
    "\u00e1",
    "ann\u202e",
    // Called as the label of somebody else is written.
    `ann (${new URL(rig.other.url).host})`,
  ];
  const people = await Promise.all(
    subjects.flatMap((sub) =>
      [rig.provider, rig.other].map((of) => rig.jwt(sub, of, { aud: [`${rig.url}/mcp`, rig.url] })),
    ),
  );
  rig.exchange.subjectOf = (token) => `person-${people.indexOf(`Bearer ${token}`)}.`;
  const asked = people.map(async (who, at) => {
    const said = await whoami(rig, who);
    expect(said, subjects[Math.floor(at / 2)]).toContain(`I am person-${at}."`);
    expect(await rig.tools(who)).toHaveLength(2);
  });
  await Promise.all(asked);
  // What each sees of themselves is of nobody else, and so are their lines in the audit.
  for (const who of people) {
    const status = await fetch(`${rig.url}/api/status`, { headers: { authorization: who } });
    const { clients } = (await status.json()) as { clients?: { total: number } };
    expect(clients?.total).toBe(1);
  }
  await vi.waitFor(async () => {
    const callers = (await auditOf(rig)).map((line) => (line as JsonObject)["caller"]);
    expect(new Set(callers).size).toBe(people.length);
  }, SOON);
});

it("tells who gets no token why, and asks again when that can help", async () => {
  const clock = new MovableClock();
  const rig = await openRig({ clock, server: exchanging({ clientAuth: "post" }) });
  const [ann, bob] = [await rig.jwt("ann"), await rig.jwt("bob")];
  rig.exchange.refused = ["bob"];
  expect(await whoami(rig, ann)).toContain("I am ann");
  expect(await rig.tools(bob)).toEqual([]);
  for (let at = 0; at < 5; at += 1) {
    const refused = await whoami(rig, bob);
    expect(refused).toContain("your account may not use 'personal'");
    expect(refused).toContain(
      "the authorization server said invalid_target (bob may not use this)",
    );
    expect(refused).not.toContain("plugboard login");
  }
  const asked = (who: string): number =>
    exchanges(rig).filter(({ subject_token: given }) => given === who.slice(7)).length;
  // Nobody asks again and again what was refused.
  expect(asked(bob)).toBe(1);
  rig.exchange.refused = [];
  clock.forward(MINUTE + 1000);
  await vi.waitFor(async () => expect(await rig.tools(bob)).toHaveLength(2), SOON);
  expect(await whoami(rig, bob)).toContain("I am bob");
  // Somebody who had access, and has it no longer.
  rig.exchange.refused = ["bob"];
  rig.oauth.revokeAll();
  const ended = await whoami(rig, bob);
  expect(ended).toContain("your account may not use 'personal'");
  await vi.waitFor(
    async () => expect((await auditOf(rig)).at(-1)).toMatchObject({ outcome: "NEEDS_AUTH" }),
    SOON,
  );
  // Another JWT is another question, at once, and its tools come by themselves.
  const eve = await rig.jwt("eve");
  rig.exchange.refused = ["eve"];
  expect(await rig.tools(eve)).toEqual([]);
  rig.exchange.refused = [];
  const next = await rig.jwt("eve", rig.provider, { jti: "2" });
  await vi.waitFor(async () => expect(await rig.tools(next)).toHaveLength(2), SOON);
});

const HOSTILE: [string, (response: ServerResponse, jwt: string) => void, string][] = [
  ["no JSON", (response) => response.writeHead(200).end("<html>"), "it is not a JSON object"],
  ["nothing", (response) => response.writeHead(200).end(), "it is not a JSON object"],
  ["an outage", (response) => response.writeHead(503).end("{}"), "it answers with HTTP 503"],
  [
    "no token",
    (response) => json(response, { access_token: undefined }),
    "it has no token for a header",
  ],
  [
    "control characters",
    (response) => json(response, { access_token: "one\r\nx-other: two" }),
    "it has no token for a header",
  ],
  [
    "the caller's own token",
    (response, jwt) => json(response, { access_token: jwt }),
    "it gives back the caller's own token",
  ],
  [
    "a token that must be proven",
    (response) => json(response, { token_type: "DPoP" }),
    "the token is no bearer token",
  ],
  [
    "another type",
    (response) =>
      json(response, { issued_token_type: "urn:ietf:params:oauth:token-type:refresh_token" }),
    "the token is of another type",
  ],
  ["too much", (response) => json(response, { more: "x".repeat(3_000_000) }), "it does not answer"],
  [
    "a redirect",
    (response) => response.writeHead(307, { location: "https://example.com/token" }).end(),
    "has moved",
  ],
  [
    "words that repeat the JWT",
    (response, jwt) =>
      json(response, { error: "access_denied", error_description: `no: ${jwt}\u0007` }, 400),
    "the authorization server said access_denied (no: ",
  ],
];

function json(response: ServerResponse, more: object, status = 200): void {
  const usual = {
    access_token: "something",
    token_type: "Bearer",
    issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
    expires_in: 60,
  };
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ ...(status === 200 && usual), ...more }));
}

it("believes no answer that is not one, and sends nothing to the server then", async () => {
  const rig = await openRig({ server: exchanging() });
  for (const [at, [name, answer, expected]] of HOSTILE.entries()) {
    const who = await rig.jwt(`person ${at}`);
    rig.exchange.answer = (response) => answer(response, who.slice(7));
    const refused = await whoami(rig, who);
    expect(refused, name).toContain(expected);
    expect(refused, name).not.toContain(who.slice(7));
    expect(refused, name).not.toContain("\\u0007");
  }
  expect(rig.oauth.resourceRequests).toEqual([]);
  expect(rig.calls).toEqual([]);
  // Whoever runs the gateway is told what it is, too.
  rig.exchange.answer = undefined;
  GATEWAY_CLIENT.client_secret = "another";
  try {
    const refused = await whoami(rig, await rig.jwt("ann"));
    expect(refused).toContain("the gateway may not exchange tokens for 'personal'");
    expect(refused).toContain("invalid_client");
  } finally {
    GATEWAY_CLIENT.client_secret = "a+b %c/ü";
  }
});
