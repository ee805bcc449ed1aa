import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import { Visitors } from "../../../../src/serve/gateway/page/visitors.ts";
import { Sealer } from "../../../../src/serve/endpoint/sealed.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function open({ url = "http://127.0.0.1:7584", gateway = "a" } = {}) {
  const clock = new ManualClock();
  const sealer = Sealer.withOwnKey(randomBytes);
  const gone = new Set<string>();
  const revoked = {
    isRevoked: (nonce: string) => gone.has(nonce),
    revoke: async (nonce: string) => void gone.add(nonce),
    claim: async (nonce: string) => !gone.has(nonce) && gone.add(nonce) !== undefined,
  };
  const signedOut = new Map<string, number>();
  const tokens = { signedOutUntil: (who: string) => signedOut.get(who) ?? -Infinity };
  const given = { sealer, revoked, tokens, clock, random: randomBytes };
  const visitorsOf = (name: string): Visitors =>
    new Visitors({ ...given, url: new URL(url), gateway: name });
  return { clock, visitors: visitorsOf(gateway), visitorsOf, signedOut };
}

async function enter(visitors: Visitors, role: "owner" | "viewer" = "owner") {
  const entered = await visitors.enter(visitors.newKey(role));
  if (entered === undefined) throw new Error("the key did not work");
  return entered;
}

/** As the page sends it, with what it got when it signed in. */
function sends(secret: string, ...cookies: string[]): IncomingMessage {
  const cookie = cookies.map((each) => each.split(";")[0]).join("; ");
  return { headers: { cookie, "x-plugboard": secret } } as unknown as IncomingMessage;
}

describe("a key", () => {
  it("opens the page once, at any gateway that has its name", async () => {
    const { visitors, visitorsOf } = open();
    const key = visitors.newKey("owner");
    expect(await visitorsOf("b").enter(key)).toBeUndefined();
    const same = visitorsOf("a");
    const { secret, setCookie } = (await same.enter(key)) ?? { secret: "", setCookie: "" };
    expect(visitors.find(sends(secret, setCookie))).toMatchObject({ role: "owner" });
    expect(await visitors.enter(key)).toBeUndefined();
  });

  it("opens nothing after a minute", async () => {
    const { visitors, clock } = open();
    const key = visitors.newKey("owner");
    await clock.advance(MINUTE);
    expect(await visitors.enter(key)).toBeUndefined();
  });

  it.each(["", "x", "a".repeat(43)])("is not %j", async (key) => {
    const { visitors } = open();
    visitors.newKey("owner");
    expect(await visitors.enter(key)).toBeUndefined();
  });

  it("is no cookie, and a cookie is no key", async () => {
    const { visitors } = open();
    const { secret, setCookie } = await enter(visitors);
    const [, cookie = ""] = /=([^;]+)/.exec(setCookie) ?? [];
    expect(await visitors.enter(cookie)).toBeUndefined();
    const key = visitors.newKey("owner");
    expect(visitors.find(sends(secret, `plugboard-ui-7584=${key}`))).toBeUndefined();
  });
});

describe("a cookie", () => {
  it.each([
    [
      "http://127.0.0.1:7584",
      /^plugboard-ui-7584=\S+; Path=\/ui; HttpOnly; SameSite=Strict; Max-Age=43200$/,
    ],
    [
      "https://tools.example.com",
      /^__Host-plugboard-ui-443=\S+; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=43200$/,
    ],
  ])("of %s carries the port and is for the page alone", async (url, expected) => {
    const { visitors } = open({ url });
    expect((await enter(visitors)).setCookie).toMatch(expected);
  });

  it("holds for twelve hours", async () => {
    const { visitors, clock } = open();
    const { secret, setCookie } = await enter(visitors, "viewer");
    await clock.advance(12 * HOUR - 1);
    expect(visitors.find(sends(secret, setCookie))).toMatchObject({ role: "viewer" });
    await clock.advance(1);
    expect(visitors.find(sends(secret, setCookie))).toBeUndefined();
  });

  it("opens nothing once its visitor has left", async () => {
    const { visitors } = open();
    const { secret, setCookie, visitor } = await enter(visitors);
    expect(await visitors.leave(visitor)).toMatch(/^plugboard-ui-7584=;.*Max-Age=0$/);
    expect(visitors.find(sends(secret, setCookie))).toBeUndefined();
  });

  it("opens nothing once the person was signed out; that of somebody with a link does", async () => {
    const { visitors, clock, signedOut } = open();
    const [before, link] = [visitors.enterAs("owner", "ann", "jwt:a#ann"), await enter(visitors)];
    signedOut.set("jwt:a#ann", clock.now());
    await clock.advance(1);
    const after = visitors.enterAs("owner", "ann", "jwt:a#ann");
    const found = [before, link, after].map(({ secret, setCookie }) =>
      visitors.find(sends(secret, setCookie)),
    );
    expect(found.map((each) => each?.name)).toEqual([undefined, "the owner", "ann"]);
  });

  it.each(["", "1", "a".repeat(43)])("opens nothing with the secret %j", async (secret) => {
    const { visitors } = open();
    expect(visitors.find(sends(secret, (await enter(visitors)).setCookie))).toBeUndefined();
  });

  it("of another gateway opens nothing", async () => {
    const { visitors, visitorsOf } = open();
    const { secret, setCookie } = await enter(visitorsOf("b"));
    expect(visitors.find(sends(secret, setCookie))).toBeUndefined();
  });

  it("counts only if there is one of its name", async () => {
    const { visitors } = open();
    const { secret, setCookie } = await enter(visitors);
    expect(visitors.find(sends(secret, "plugboard-ui-7584=x", setCookie))).toBeUndefined();
    expect(visitors.find(sends(secret, "plugboard-ui-7585=x", setCookie))).toBeDefined();
  });

  it.each(["", "x", `plugboard-ui-7584=${"a".repeat(5000)}`])("is not %.20j", (cookie) => {
    const { visitors } = open();
    expect(visitors.find(sends("", cookie))).toBeUndefined();
  });
});
