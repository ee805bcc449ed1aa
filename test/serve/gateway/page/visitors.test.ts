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
  };
  const given = { sealer, revoked, clock, random: randomBytes };
  const visitorsOf = (name: string): Visitors =>
    new Visitors({ ...given, url: new URL(url), gateway: name });
  return { clock, visitors: visitorsOf(gateway), visitorsOf };
}

/** As a browser sends it back. */
function sends(...cookies: (string | undefined)[]): IncomingMessage {
  const pairs = cookies.map((each) => each?.split(";")[0]).filter(Boolean);
  return { headers: { cookie: pairs.join("; ") } } as unknown as IncomingMessage;
}

describe("a key", () => {
  it("opens the page once", () => {
    const { visitors } = open();
    const key = visitors.newKey("owner");
    const entered = visitors.enter(key);
    expect(visitors.find(sends(entered?.setCookie))).toMatchObject({ role: "owner" });
    expect(visitors.enter(key)).toBeUndefined();
  });

  it("opens nothing after a minute", async () => {
    const { visitors, clock } = open();
    const key = visitors.newKey("owner");
    await clock.advance(MINUTE);
    expect(visitors.enter(key)).toBeUndefined();
  });

  it.each(["", "x", "a".repeat(43)])("is not %j", (key) => {
    const { visitors } = open();
    visitors.newKey("owner");
    expect(visitors.enter(key)).toBeUndefined();
  });

  it("is forgotten where there are too many", () => {
    const { visitors } = open();
    const keys = Array.from({ length: 65 }, () => visitors.newKey("viewer"));
    expect(keys.map((key) => visitors.enter(key) !== undefined)).toEqual([
      false,
      ...Array.from({ length: 64 }, () => true),
    ]);
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
  ])("of %s carries the port and is for the page alone", (url, expected) => {
    const { visitors } = open({ url });
    expect(visitors.enter(visitors.newKey("owner"))?.setCookie).toMatch(expected);
  });

  it("holds for twelve hours", async () => {
    const { visitors, clock } = open();
    const { setCookie } = visitors.admit("viewer", "Ada");
    await clock.advance(12 * HOUR - 1);
    expect(visitors.find(sends(setCookie))).toMatchObject({ role: "viewer", name: "Ada" });
    await clock.advance(1);
    expect(visitors.find(sends(setCookie))).toBeUndefined();
  });

  it("opens nothing once its visitor has left", async () => {
    const { visitors } = open();
    const { setCookie, visitor } = visitors.admit("owner", "the owner");
    expect(await visitors.leave(visitor)).toMatch(/^plugboard-ui-7584=;.*Max-Age=0$/);
    expect(visitors.find(sends(setCookie))).toBeUndefined();
  });

  it("of another gateway opens nothing", () => {
    const { visitors, visitorsOf } = open();
    const { setCookie } = visitorsOf("b").admit("owner", "the owner");
    expect(visitors.find(sends(setCookie))).toBeUndefined();
  });

  it("counts only if there is one of its name", () => {
    const { visitors } = open();
    const { setCookie } = visitors.admit("owner", "the owner");
    expect(visitors.find(sends("plugboard-ui-7584=x", setCookie))).toBeUndefined();
    expect(visitors.find(sends("plugboard-ui-7585=x", setCookie))).toBeDefined();
  });

  it.each(["", "x", `plugboard-ui-7584=${"a".repeat(5000)}`])("is not %.20j", (cookie) => {
    const { visitors } = open();
    expect(visitors.find(sends(cookie))).toBeUndefined();
  });
});
