// People who sign in to one server for themselves: what each sees, and what nobody else can make of it.

import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { openBoard } from "../../../src/core/board/board.ts";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import type { OAuthFixture } from "../../fixtures/oauth/oauth.ts";
import { type Engines, missingEngines, startEngines } from "../../support/engines.ts";
import { INITIALIZE, legacy } from "../endpoint/harness.ts";
import { GATEWAY_CLIENT, openRig, type Rig } from "./people-rig.ts";

const SOON = { timeout: 20_000, interval: 50 };

/** A browser that keeps cookies, and goes where pages lead it. */
class Browser {
  readonly cookies = new Map<string, string>();

  async open(url: string, form?: Record<string, string>, headers: object = {}): Promise<Shown> {
    const response = await fetch(url, {
      redirect: "manual",
      ...(form && { method: "POST", body: new URLSearchParams(form) }),
      headers: {
        cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; "),
        ...(form && { origin: new URL(url).origin }),
        ...headers,
      },
    });
    for (const each of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(each) ?? [];
      if (value === "") this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const text = await response.text();
    const [, refresh] = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(text) ?? [];
    const next = response.headers.get("location") ?? (refresh && unescaped(refresh));
    return { status: response.status, text, ...(next && { next }) };
  }
}

interface Shown {
  status: number;
  text: string;
  /** Where the page leads. */
  next?: string;
}

function unescaped(text: string): string {
  return text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
}

const PAGE = "/sign-in/default/personal";

/** Both gateways have heard of this token, whose holder has not signed in yet. */
async function expectKnown(rig: Rig, who: string): Promise<void> {
  for (const at of [0, 1])
    await vi.waitFor(async () => expect(await rig.tools(who, at)).toEqual([]), SOON);
}

async function expectSignedOut(rig: Rig, who: string, remedy: string, at = 0): Promise<void> {
  const whoami = { name: "personal__whoami", arguments: {} };
  await vi.waitFor(async () => {
    const { length } = rig.calls;
    const answer = JSON.stringify(await rig.ask(who, "tools/call", whoami, at));
    expect(answer).toContain(remedy);
    expect(rig.calls).toHaveLength(length);
  }, SOON);
}

/** From the page to the authorization server of the server, as somebody whom the provider knows. */
async function begin(rig: Rig, sub: string, browser = new Browser()): Promise<string> {
  rig.provider.claims = { sub };
  const asked = await browser.open(`${rig.url}${PAGE}`, {});
  const identified = await browser.open(asked.next ?? "");
  const shown = await browser.open(identified.next ?? "");
  if (shown.next === undefined) throw new Error(shown.text);
  return shown.next;
}

/** The whole way. `as` is who they are at the server. */
async function signIn(rig: Rig, sub: string, as = sub, browser = new Browser()): Promise<Shown> {
  const back = await rig.oauth.approve(await begin(rig, sub, browser), { subject: as });
  return browser.open(back);
}

it("gives each person the tools, resources, prompts and results of their own sign-in, and nobody else's", async () => {
  const rig = await openRig();
  const [ann, bob] = [await rig.jwt("ann"), await rig.jwt("bob")];
  // Without a sign-in: no tools, a link in words, and a tool that gives it.
  expect(await rig.tools(ann)).toEqual([]);
  const link = `${rig.url}${PAGE}`;
  const gave = await rig.ask(ann, "tools/call", {
    name: "sign_in",
    arguments: { server: "personal" },
  });
  expect(JSON.stringify(gave)).toContain(link);
  const refused = await rig.ask(ann, "tools/call", { name: "personal__whoami", arguments: {} });
  expect(JSON.stringify(refused)).toContain(link);
  expect(JSON.stringify(refused)).not.toContain("plugboard login");

  expect((await signIn(rig, "ann")).text).toContain("Signed in to personal");
  expect(await rig.tools(ann)).toEqual(["personal__whoami", "personal__secret_of_ann"]);
  // Neither bob, nor whoever the other provider calls ann, nor the agent's own user, nor a token is signed in.
  const otherAnn = await rig.jwt("ann", rig.other);
  const token = await rig.token("ci");
  for (const who of [bob, otherAnn, token, await rig.token("boss", { owner: true })]) {
    expect(await rig.tools(who)).toEqual([]);
  }
  expect((await signIn(rig, "bob")).status).toBe(200);
  expect(await rig.tools(bob)).toEqual(["personal__whoami", "personal__secret_of_bob"]);
  expect(await rig.tools(ann)).toEqual(["personal__whoami", "personal__secret_of_ann"]);
  expect(await rig.tools(otherAnn)).toEqual([]);

  const whoami = async (who: string): Promise<string> =>
    JSON.stringify(await rig.ask(who, "tools/call", { name: "personal__whoami", arguments: {} }));
  const [asAnn, asBob] = await Promise.all([whoami(ann), whoami(bob)]);
  expect(asAnn).toContain("I am ann");
  expect(asBob).toContain("I am bob");
  expect(await whoami(otherAnn)).not.toContain("I am");
  expect(await whoami(token)).not.toContain("I am");

  for (const [method, params] of [
    ["tools/list", {}],
    ["resources/list", {}],
    ["resources/templates/list", {}],
    ["prompts/list", {}],
    ["resources/read", { uri: "note://ann" }],
    ["prompts/get", { name: "personal__prompt_of_ann" }],
    ["tools/call", { name: "personal__secret_of_ann", arguments: {} }],
    ["initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: {} }],
  ] as const) {
    const forAnn = JSON.stringify((await rig.ask(ann, method, params))["result"] ?? {});
    const forBob = JSON.stringify((await rig.ask(bob, method, params))["result"] ?? {});
    const forToken = JSON.stringify((await rig.ask(token, method, params))["result"] ?? {});
    expect(forBob, method).not.toMatch(/of ann|of_ann|I am ann|for ann/);
    expect(forToken, method).not.toMatch(/of ann|of_ann|I am|for ann/);
    if (method.endsWith("list") && method !== "resources/templates/list") {
      expect(forAnn, method).toMatch(/of_ann|note:..ann/);
    }
  }
  expect(new Set(rig.calls)).toEqual(new Set(["ann", "bob"]));
  // No JWT and no token of the gateway has ever been sent to the server, or to its authorization server.
  const sent = JSON.stringify([rig.oauth.resourceRequests, rig.oauth.requests]);
  for (const own of [ann, bob, otherAnn, token]) expect(sent).not.toContain(own.slice(7));

  // What an operator sees: a caller hears of nobody else's calls and tools.
  for (const path of ["/metrics", "/api/status"]) {
    const seen = await fetch(`${rig.url}${path}`, { headers: { authorization: token } });
    expect(await seen.text(), path).not.toMatch(/of_ann|of_bob/);
  }
});

it("offers the tool for it where allow lists name something of the server, and tells nobody else of the server", async () => {
  const rig = await openRig({ tools: { allow: ["personal/*"] } });
  const table = [
    ["no-rules", undefined, true],
    ["all", { allow: ["personal/*"] }, true],
    ["some", { allow: ["personal/whoami"], deny: ["personal/secret_*"] }, true],
    ["others", { allow: ["others/*"] }, false],
    ["none", { deny: ["personal/*"] }, false],
    ["not-that", { deny: ["native/sign_in"] }, false],
  ] as const;
  const tokens = new Map<string, string>();
  for (const [name, rules] of table) {
    tokens.set(name, await rig.token(name, rules && { tools: rules }));
  }
  for (const [name, , isOffered] of table) {
    const who = tokens.get(name) ?? "";
    const listed = JSON.stringify(await rig.ask(who, "tools/list"));
    expect(listed.includes('"sign_in"'), name).toBe(isOffered);
    if (name === "others" || name === "none") expect(listed).not.toContain("personal");
    const call = { name: "sign_in", arguments: { server: "personal" } };
    const answer = JSON.stringify(await rig.ask(who, "tools/call", call));
    expect(answer.includes("Ask the user to open"), name).toBe(isOffered);
  }
});

it("tells nobody but that person, and who sees everything, what happens on their server", async () => {
  const rig = await openRig();
  const readers = new AbortController();
  const [ann, bob] = [await rig.token("ann"), await rig.token("bob")];
  const read = async (who: string): Promise<() => string> => {
    let text = "";
    const { body } = await fetch(`${rig.url}/api/events`, {
      headers: { authorization: who },
      signal: readers.signal,
    });
    void (async () => {
      for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) text += chunk;
    })().catch(() => {});
    return () => text;
  };
  const browse = async (who: string, name: string): Promise<void> => {
    const browser = new Browser();
    const { next = "" } = await browser.open(`${rig.url}${PAGE}`, { token: who.slice(7) });
    const shown = await browser.open(await rig.oauth.approve(next, { subject: name }));
    expect(shown.text).toContain(`You, ${name}, are signed in.`);
  };
  await browse(ann, "ann");
  await browse(bob, "bob");
  const [toAnn, toBob] = [await read(ann), await read(bob)];
  onTestFinished(() => readers.abort());
  const name = "personal__whoami";
  await rig.ask(ann, "tools/call", { name, arguments: {} });
  await rig.ask(ann, "tools/call", { name: "personal__secret_of_ann", arguments: {} });
  await vi.waitFor(() => expect(toAnn()).toContain("secret_of_ann"), SOON);
  await rig.ask(bob, "tools/call", { name, arguments: {} });
  await vi.waitFor(() => expect(toBob()).toContain("event: call\n"), SOON);
  const events = (text: string): string[] => text.match(/event: call\n/g) ?? [];
  expect(events(toBob())).toHaveLength(1);
  expect(toBob()).not.toContain("of_ann");
});

it("signs somebody in with the token of the gateway that they show, and out again", async () => {
  const rig = await openRig();
  const ann = await rig.token("ann");
  const browser = new Browser();
  const wrong = await browser.open(`${rig.url}${PAGE}`, { token: "not-a-token" });
  expect(wrong.status).toBe(400);
  expect(wrong.text).toContain("The gateway does not take this token.");
  const { next = "" } = await browser.open(`${rig.url}${PAGE}`, { token: ann.slice(7) });
  const denied = await browser.open(await rig.oauth.approve(next, { deny: true }));
  expect(denied.text).toContain("the person said no");
  expect(denied.text).toContain("Begin again");
  expect(denied.text).not.toContain("plugboard login");
  expect(await rig.tools(ann)).toEqual([]);
  const again = await browser.open(`${rig.url}${PAGE}`, { token: ann.slice(7) });
  const back = await rig.oauth.approve(again.next ?? "", { subject: "ann" });
  expect((await browser.open(back)).text).toContain("Your programs have its tools now");
  expect(await rig.tools(ann)).toHaveLength(2);
  // The answer of the authorization server works once.
  expect((await browser.open(back)).text).toContain("did not begin this sign-in");
  expect(await rig.tools(ann)).toHaveLength(2);
  const out = await browser.open(`${rig.url}${PAGE}`, { token: ann.slice(7), do: "out" });
  expect(out.text).toContain("tokens are revoked and deleted");
  const { length } = rig.calls;
  const called = await rig.ask(ann, "tools/call", { name: "personal__whoami", arguments: {} });
  expect(JSON.stringify(called)).toContain(`${rig.url}${PAGE}`);
  expect(rig.calls).toHaveLength(length);
});

/** The tokens of who has signed out stay good at the server. */
const NOT_REVOKED = { metadata: { revocation_endpoint: undefined } };

it("hears of sign-ins to a shared server, and sign-outs, that a command has made", async () => {
  const rig = await openRig({ ...NOT_REVOKED, server: () => ({}) });
  const ann = await rig.token("ann");
  expect(await rig.tools(ann)).toEqual([]);
  let subject = "one";
  const command = await openBoard(
    { servers: { personal: { url: rig.oauth.url } } },
    {
      start: "none",
      state: rig.state,
      onAuthorization: async ({ url }) =>
        void (await rig.oauth.approve(url, { visit: true, subject })),
    },
  );
  onTestFinished(() => command.close());
  for (subject of ["one", "two"]) {
    await command.signIn("personal");
    const whoami = { name: "personal__whoami", arguments: {} };
    await vi.waitFor(async () => {
      const answer = await rig.ask(ann, "tools/call", whoami);
      expect(JSON.stringify(answer)).toContain(`I am ${subject}`);
    }, SOON);
  }
  expect(await command.signOut("personal")).toBe("forgotten");
  await expectSignedOut(rig, ann, "plugboard login personal");
});

it("refuses sign-ins that another browser, another page or another person has begun", async () => {
  const rig = await openRig();
  const [mallory, ann] = [await rig.jwt("mallory"), await rig.jwt("ann")];
  const hers = new Browser();
  // Mallory begins, and has ann finish it in her browser.
  const url = await begin(rig, "mallory", hers);
  const back = await rig.oauth.approve(url, { subject: "ann" });
  const shown = await new Browser().open(back);
  expect(shown.text).toContain("did not begin this sign-in");
  // With ann's own sign-in under way, too: the state is of one browser and of one sign-in.
  const ofAnn = new Browser();
  await begin(rig, "ann", ofAnn);
  expect((await ofAnn.open(back)).text).toContain("did not begin this sign-in");
  const mixed = new URL(back);
  const [own = ""] = [...ofAnn.cookies.keys()].map((each) => each.slice(each.lastIndexOf("-in-")));
  expect(own).not.toBe("");
  mixed.searchParams.set("state", `${own}${"x".repeat(20)}`);
  expect((await ofAnn.open(mixed.href)).text).toContain("did not begin this sign-in");
  for (const who of [mallory, ann]) expect(await rig.tools(who)).toEqual([]);
  // A page of another site sends ann's browser on with mallory's token.
  const token = (await rig.token("mallory")).slice(7);
  for (const headers of [
    { origin: "https://evil.example" },
    { origin: "http://localhost:1234" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "cross-site" },
  ]) {
    const forged = await new Browser().open(`${rig.url}${PAGE}`, { token }, headers);
    expect(forged.next, JSON.stringify(headers)).toBeUndefined();
  }
  // A cookie that nobody sealed, and one for something else.
  const cookie = [...ofAnn.cookies][0] ?? ["", ""];
  ofAnn.cookies.set(
    cookie[0],
    cookie[1].replace(/.$/, (last) => (last === "A" ? "B" : "A")),
  );
  const forged = new URL(`${rig.url}/sign-in/callback?code=x&state=${"y".repeat(32)}`);
  expect((await ofAnn.open(forged.href)).status).toBe(400);
  // Words in the address are not shown, and other servers cannot be signed in to.
  expect((await hers.open(`${rig.url}/sign-in/default/Call%20us%20now`)).status).toBe(404);
  const nobody = await hers.open(`${rig.url}/sign-in/default/docs`, { token });
  expect(nobody.text).toContain("Nobody signs in to");
  // Whoever may use nothing of a server is answered as if nobody signed in to it.
  const limited = (await rig.token("eve", { tools: { deny: ["personal/*"] } })).slice(7);
  await vi.waitFor(async () => {
    const hidden = await hers.open(`${rig.url}${PAGE}`, { token: limited });
    expect(hidden.text).toBe(nobody.text.replaceAll("docs", "personal"));
  }, SOON);
});

it("refuses whom the rights refuse, with any server, and whoever was signed out meanwhile", async () => {
  const rig = await openRig({
    rights: [
      { claim: "groups", has: ["team"], agent: "default", allow: ["personal/*"] },
      { claim: "groups", has: ["docs"], agent: "default", allow: ["docs/*"] },
      { claim: "groups", has: ["lookers"], role: "viewer" },
    ],
  });
  const asked = async (claims: object, out = {}): Promise<string> => {
    const browser = new Browser();
    rig.provider.claims = { sub: "ann", ...claims };
    const page = await browser.open(`${rig.url}${PAGE}`, out);
    const { text, next } = await browser.open((await browser.open(page.next ?? "")).next ?? "");
    return next === undefined ? text : "goes on to the server";
  };
  const noRight = "Nothing that the provider says of you gives a right to the agent";
  for (const [claims, expected] of [
    [{}, noRight],
    [{ groups: ["other"] }, noRight],
    [{ groups: ["lookers"] }, noRight],
    [{ _claim_names: { groups: "src1" } }, "has left &#34;groups&#34; out of this token"],
    [{ groups: ["docs"] }, "Nobody signs in to &#39;personal&#39; here"],
    [{ groups: ["team"] }, "goes on to the server"],
  ] as const) {
    expect(await asked(claims), JSON.stringify(claims)).toContain(expected);
  }
  expect(await asked({}, { do: "out" })).toContain(noRight);

  const browser = new Browser();
  rig.provider.claims = { sub: "ann", groups: ["team"] };
  const page = await browser.open(`${rig.url}${PAGE}`, {});
  const { next = "" } = await browser.open((await browser.open(page.next ?? "")).next ?? "");
  const back = await rig.oauth.approve(next, { subject: "ann" });
  await rig.state.tokens.signOut();
  // As soon as the gateway has heard of it, nothing goes on that began before.
  await vi.waitFor(async () => expect(await asked({ groups: ["team"] })).toContain(OUT), SOON);
  expect((await browser.open(back)).text).toContain(OUT);
});

const OUT = "You were signed out of this gateway";

it("behind a proxy, somebody who asks too often keeps nobody else from signing in", async () => {
  const rig = await openRig({ settings: { behindProxy: true } });
  const from = async (address: string): Promise<boolean> => {
    const headers = { "x-forwarded-for": address };
    const { text } = await new Browser().open(`${rig.url}${PAGE}`, { token: "" }, headers);
    return text.includes("Too many sign-ins");
  };
  let isRefused = false;
  for (let turn = 0; turn < 40 && !isRefused; turn += 1) {
    const asked = await Promise.all(Array.from({ length: 50 }, () => from("203.0.113.1")));
    isRefused = asked.includes(true);
  }
  expect(isRefused).toBe(true);
  expect(await from("203.0.113.2")).toBe(false);
});

const missing = missingEngines();
const why = missing === undefined ? "" : `, skipped: ${missing}`;

describe.skipIf(missing !== undefined)(`two gateways with one state${why}`, () => {
  let engines: Engines;

  beforeAll(async () => {
    engines = await startEngines();
  });
  afterAll(() => engines.stop());

  it("a sign-in that one begins ends at the other, both use it, and renew it once", async () => {
    const rig = await openRig({ shared: await engines.newSettings() });
    const [ann, bob] = [await rig.jwt("ann"), await rig.jwt("bob")];
    const both = [0, 1];
    // Both wait for it.
    for (const at of both) expect(await rig.tools(ann, at)).toEqual([]);
    const browser = new Browser();
    const back = await rig.oauth.approve(await begin(rig, "ann", browser), { subject: "ann" });
    const shown = await browser.open(rig.elsewhere(back));
    expect(shown.text).toContain("Signed in to personal");
    // It works once, wherever it is tried again.
    await vi.waitFor(async () => {
      const again = await browser.open(back);
      expect(again.text).toContain("did not begin this sign-in");
    }, SOON);
    for (const at of both) {
      await vi.waitFor(async () => expect(await rig.tools(ann, at)).toHaveLength(2), SOON);
      expect(await rig.tools(bob, at)).toEqual([]);
    }
    // The token can be renewed once: whoever uses the same one twice loses the sign-in.
    rig.oauth.expireTokens();
    const whoami = { name: "personal__whoami", arguments: {} };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => rig.ask(ann, "tools/call", whoami, at % 2)),
    );
    for (const answer of answers) expect(JSON.stringify(answer)).toContain("I am ann");
    expect(rig.oauth.count("refresh")).toBe(1);
    expect(rig.oauth.tokens.filter(({ state }) => state === "revoked")).toEqual([]);
  });

  it("a sign-out at one is one at the other, also if nobody uses that person's servers there now", async () => {
    const rig = await openRig({ ...NOT_REVOKED, shared: await engines.newSettings() });
    const [ann, bob] = [await rig.token("ann"), await rig.token("bob")];
    for (const who of [ann, bob]) {
      await expectKnown(rig, who);
      const browser = new Browser();
      const { next = "" } = await browser.open(`${rig.url}${PAGE}`, { token: who.slice(7) });
      await browser.open(await rig.oauth.approve(next, { subject: who === ann ? "ann" : "bob" }));
      for (const at of [0, 1])
        await vi.waitFor(async () => expect(await rig.tools(who, at)).toHaveLength(2), SOON);
    }
    const out = { token: ann.slice(7), do: "out" };
    const { text } = await new Browser().open(`${rig.url}${PAGE}`, out);
    expect(text).toContain("could not be revoked");
    for (const at of [0, 1]) {
      await expectSignedOut(rig, ann, `${rig.url}${PAGE}`, at);
      expect(await rig.tools(bob, at)).toHaveLength(2);
    }
  });

  it("a sign-out counts as well where PostgreSQL gave no answer to who heard of it", async () => {
    const shared = await engines.newSettings();
    const rig = await openRig({ ...NOT_REVOKED, shared });
    const ann = await rig.token("ann");
    await expectKnown(rig, ann);
    const browser = new Browser();
    const { next = "" } = await browser.open(`${rig.url}${PAGE}`, { token: ann.slice(7) });
    await browser.open(await rig.oauth.approve(next, { subject: "ann" }));
    for (const at of [0, 1])
      await vi.waitFor(async () => expect(await rig.tools(ann, at)).toHaveLength(2), SOON);
    const elsewhere = await engines.connect(shared);
    await elsewhere.query(
      "begin; lock table plugboard_grants; delete from plugboard_grants where kind = 'grant'",
    );
    engines.sql(
      shared,
      "update plugboard_revisions set revision = revision + 1 where topic = 'grants'",
    );
    const locked = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'";
    const waiting = (): number => Number(engines.sql(shared, locked));
    await vi.waitFor(() => expect(waiting()).toBeGreaterThan(1), SOON);
    await vi.waitFor(() => expect(waiting()).toBe(0), SOON);
    await elsewhere.query("commit");
    for (const at of [0, 1]) await expectSignedOut(rig, ann, `${rig.url}${PAGE}`, at);
  });

  const exchanging = ({ issuer }: OAuthFixture): Omit<ServerConfig, "url"> => ({
    oauth: {
      grant: "token_exchange",
      issuer,
      clientId: GATEWAY_CLIENT.client_id,
      clientSecret: GATEWAY_CLIENT.client_secret,
    },
  });

  it("a call is cancelled through the other gateway, and the rest of the session goes on, where a JWT is exchanged", async () => {
    const rig = await openRig({ shared: await engines.newSettings(), server: exchanging });
    const ann = await rig.jwt("ann");
    const begun = await rig.send(ann, legacy("initialize", INITIALIZE));
    const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
    const ended: string[] = [];
    const calls = ["a", "b"].map(async (name) => {
      const called = { name: "personal__whoami", arguments: { wait: true } };
      await rig.send(ann, { ...legacy("tools/call", called), id: name }, session);
      ended.push(name);
    });
    await vi.waitFor(() => expect(rig.calls).toHaveLength(2), SOON);
    const cancel = (requestId: string, at: number) =>
      rig.send(
        ann,
        { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } },
        session,
        at,
      );
    await cancel("a", 1);
    await vi.waitFor(() => expect(ended).toContain("a"), SOON);
    // Whatever ended with it has been answered by then.
    await rig.send(ann, legacy("ping"), session);
    expect(ended).toEqual(["a"]);
    await cancel("b", 0);
    await Promise.all(calls);
  });

  it("a session's own servers get the token of a JWT that came to the other gateway", async () => {
    const rig = await openRig({
      shared: await engines.newSettings(),
      server: (oauth) => ({ scope: "session", ...exchanging(oauth) }),
    });
    const first = await rig.jwt("ann");
    const begun = await rig.send(first, legacy("initialize", INITIALIZE));
    const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
    const whoami = async (who: string, at: number, headers = {}): Promise<string> => {
      const called = legacy("tools/call", { name: "personal__whoami", arguments: {} });
      const { message } = await rig.send(who, called, { ...session, ...headers }, at);
      return JSON.stringify(message);
    };
    expect(await whoami(first, 0)).toContain("I am ann");
    // Only the other gateway has seen this one. What is exchanged is what came with the request.
    const second = await rig.jwt("ann", rig.provider, { jti: "2" });
    rig.oauth.revokeAll();
    expect(await whoami(second, 1, { "plugboard-jwt": "something" })).toContain("I am ann");
    const exchanged = rig.oauth.requests.flatMap(({ params }) => params["subject_token"] ?? []);
    expect(exchanged).toEqual([first, second].map((each) => each.slice(7)));
  });
});
