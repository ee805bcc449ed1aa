// What every implementation of the shared state must do, part by part. It is run with two that share everything, as two
// processes do; a board without shared state has some of the parts in memory, and both are the same then.

import { expect, it, onTestFinished, vi } from "vitest";
import type { AuditLine } from "../../../src/core/types/audit-entry.ts";
import type { ServerPins } from "../../../src/core/types/pin.ts";
import {
  type PendingApproval,
  type SharedState,
  UNCHANGED,
} from "../../../src/core/types/shared-state.ts";
import { type Clock, systemClock } from "../../../src/util/clock.ts";

type Part = Exclude<keyof SharedState, "close">;

/** Two that share everything, each with its clock. They are closed with the test. */
interface OpenTwo<Parts extends Part> {
  (clocks: readonly [Clock, Clock]): Promise<[State<Parts>, State<Parts>]>;
}

type State<Parts extends Part> = Pick<SharedState, Parts> & Partial<Pick<SharedState, "close">>;

/** "Within a second", on a machine that does other things too. */
const SOON = { timeout: 10_000, interval: 20 };
const LATER = 100 * 365 * 24 * 60 * 60 * 1000 + Date.now();

const ID = { server: "docs", key: "k" };
const PINS: ServerPins = {
  ...ID,
  seenWith: [],
  instructions: { kind: "pinned", firstSeen: 1, approved: { hash: "h", value: "", seen: 1 } },
  tools: new Map(),
};
const APPROVAL = { agent: "main", config: "/c.json", tool: "docs/read", hash: "h", at: 1 };
const QUESTION: PendingApproval = {
  id: "k7f3q9mz",
  caller: { id: "token:ci", label: "ci" },
  agent: "main",
  request: {
    callId: "1",
    tool: "docs/write",
    hash: "h",
    publicName: "mcp__docs__write",
    args: { path: "/a" },
    hints: {},
    trusted: false,
    reason: "every call of this tool needs approval",
    always: "until-changed",
  },
  argsHash: "a",
  createdAt: 1,
  expiresAt: LATER,
};
const GRANT = { tokens: { access_token: "a0", refresh_token: "r0" } };

const CLOCKS = [systemClock, systemClock] as const;
const MONTH = 31 * 24 * 60 * 60 * 1000;
const NEXT_MONTH: Clock = { ...systemClock, now: () => Date.now() + MONTH };

async function open<Parts extends Part>(
  openTwo: OpenTwo<Parts>,
  clocks: readonly [Clock, Clock] = CLOCKS,
): Promise<[State<Parts>, State<Parts>]> {
  const both = await openTwo(clocks);
  onTestFinished(async () => {
    for (const each of both) await each.close?.();
  });
  return both;
}

export function testSharedState(openTwo: OpenTwo<Part>): void {
  testPins(openTwo);
  testChanges(openTwo);
  testApprovals(openTwo);
  testGrants(openTwo);
  testAudit(openTwo);
  testLimits(openTwo);
  testPlaces(openTwo);
  testUsage(openTwo);
  testTokens(openTwo);
  testSignOuts(openTwo);
  testSessions(openTwo);
  testSessionBounds(openTwo);
  testShared(openTwo);
  testSealKeys(openTwo);
}

export function testPins(openTwo: OpenTwo<"pins">): void {
  it("pins: a change is made to what the other has stored, and none is lost", async () => {
    const both = await open(openTwo);
    const [one, two] = both;
    expect(await one.pins.read(ID)).toEqual({ kind: "none" });
    await one.pins.update(ID, () => PINS);
    expect(await two.pins.read(ID)).toEqual({ kind: "pinned", pins: PINS });
    expect(await two.pins.read({ ...ID, key: "other" })).toEqual({ kind: "none" });
    const seen = { hash: "h", value: { name: "a", inputSchema: {} }, seen: 1 };
    const names = Array.from({ length: 10 }, (_, at) => `tool-${at}`);
    await Promise.all(
      names.map((name, at) =>
        both[at % 2 ? 1 : 0].pins.update(ID, (pins) => {
          if (pins === undefined) return undefined;
          const pin = { kind: "new", firstSeen: 1, pending: seen } as const;
          return { ...pins, tools: new Map(pins.tools).set(name, pin) };
        }),
      ),
    );
    const [stored] = await two.pins.list();
    expect([...(stored?.tools.keys() ?? [])].sort()).toEqual(names);
    expect(await one.pins.update(ID, () => UNCHANGED)).toEqual(stored);
    await two.pins.update(ID, () => undefined);
    expect(await one.pins.read(ID)).toEqual({ kind: "none" });
    expect([await one.pins.list(), await one.pins.lost()]).toEqual([[], []]);
  });
}

function testChanges(openTwo: OpenTwo<"pins" | "changes">): void {
  it("changes: the other hears that pins have changed, and nothing after it stops listening", async () => {
    const [one, two] = await open(openTwo);
    let [heard, stopped] = [0, 0];
    const stop = two.changes.subscribe("pins", () => (stopped += 1));
    onTestFinished(two.changes.subscribe("pins", () => (heard += 1)));
    stop();
    await one.pins.update(ID, () => PINS);
    await vi.waitFor(() => expect(heard).toBeGreaterThan(0), SOON);
    const before = heard;
    await one.changes.publish("pins");
    await vi.waitFor(() => expect(heard).toBeGreaterThan(before), SOON);
    expect(stopped).toBe(0);
  });
}

function testApprovals(openTwo: OpenTwo<"approvals" | "pending">): void {
  it("approvals: the other sees at once what was given and what was forgotten", async () => {
    const [one, two] = await open(openTwo);
    expect(await two.approvals.has(APPROVAL)).toBe(false);
    await one.approvals.add(APPROVAL);
    expect(await two.approvals.has(APPROVAL)).toBe(true);
    for (const other of [{ agent: "x" }, { tool: "x" }, { hash: "x" }]) {
      expect(await two.approvals.has({ ...APPROVAL, ...other })).toBe(false);
    }
    await two.approvals.add({ ...APPROVAL, tool: "docs/write", at: 2 });
    await two.approvals.add({ ...APPROVAL, at: 3 });
    expect((await one.approvals.list()).map(({ tool, at }) => [tool, at])).toEqual([
      ["docs/write", 2],
      ["docs/read", 3],
    ]);
    await one.approvals.forget([APPROVAL]);
    expect(await two.approvals.has(APPROVAL)).toBe(false);
    expect(await two.approvals.list()).toHaveLength(1);
  });

  it("waiting approvals: the other finds the question, and its answer is for that question alone", async () => {
    const [one, two] = await open(openTwo);
    await one.pending.put(QUESTION);
    expect(await two.pending.list()).toEqual([QUESTION]);
    expect((await one.pending.answersTo([QUESTION])).size).toBe(0);
    const other = { ...QUESTION, argsHash: "other" };
    expect(await two.pending.answer(other, "once")).toBe(false);
    expect(await two.pending.answer(QUESTION, "always")).toBe(true);
    expect(await one.pending.answersTo([QUESTION])).toEqual(new Map([[QUESTION.id, "always"]]));
    expect((await one.pending.answersTo([other])).size).toBe(0);
    expect(await two.pending.list()).toEqual([]);
    await one.pending.remove(QUESTION);
    expect(await two.pending.answer(QUESTION, "once")).toBe(false);
  });
}

export function testGrants(openTwo: OpenTwo<"grants">): void {
  it("grants: one holder of the lease renews, and the others find what it got", async () => {
    const both = await open(openTwo);
    await both[0].grants.write("grant", "k", GRANT);
    let [redeemed, holders] = [0, 0];
    const renew = (grants: SharedState["grants"]): Promise<unknown> =>
      grants.withLease("k", async () => {
        holders += 1;
        expect(holders).toBe(1);
        const stored = await grants.read("grant", "k");
        if (JSON.stringify(stored) === JSON.stringify(GRANT)) {
          redeemed += 1;
          const renewed = { tokens: { access_token: `a${redeemed}` } };
          expect(await grants.replace("grant", "k", stored, renewed)).toBe(true);
        }
        holders -= 1;
        return grants.read("grant", "k");
      });
    const got = await Promise.all(
      Array.from({ length: 10 }, (_, at) => renew(both[at % 2 ? 1 : 0].grants)),
    );
    expect(redeemed).toBe(1);
    expect(new Set(got.map((each) => JSON.stringify(each))).size).toBe(1);
    // A lease of another grant is another lease, and a task that fails gives its lease back.
    await both[0].grants.withLease("k", () => both[1].grants.withLease("other", async () => {}));
    const failing = both[0].grants.withLease("k", () => Promise.reject(new Error("no")));
    await expect(failing).rejects.toThrow("no");
    expect(await both[1].grants.withLease("k", async () => "free")).toBe("free");
  });

  it("grants: what another has stored meanwhile is not replaced", async () => {
    const [one, two] = await open(openTwo);
    const newer = { tokens: { access_token: "a1" } };
    expect(await one.grants.replace("grant", "k", undefined, GRANT)).toBe(true);
    expect(await two.grants.replace("grant", "k", GRANT, newer)).toBe(true);
    expect(await one.grants.replace("grant", "k", GRANT, { tokens: {} })).toBe(false);
    expect(await one.grants.replace("grant", "k", GRANT, undefined)).toBe(false);
    expect(await one.grants.replace("grant", "k", undefined, GRANT)).toBe(false);
    expect(await one.grants.read("grant", "k")).toEqual(newer);
    expect(await one.grants.read("client", "k")).toBeUndefined();
    expect(await one.grants.replace("grant", "k", newer, undefined)).toBe(true);
    expect(await two.grants.read("grant", "k")).toBeUndefined();
  });
}

function testAudit(openTwo: OpenTwo<"audit">): void {
  it("audit: the lines of both are whole, and each reads those of the other", async () => {
    const [one, two] = await open(openTwo);
    const [a, b] = [one, two].map((state) => state.audit.open(() => {}));
    onTestFinished(async () => {
      for (const sink of [a, b]) await sink?.close();
    });
    for (let at = 0; at < 50; at += 1) {
      await Promise.all([a?.append(lineOf("a", at)), b?.append(lineOf("b", at))]);
      const now = lineOf("now", at);
      await a?.appendNow(Buffer.concat([now, Buffer.from("not this")]), now.length);
    }
    let damaged = 0;
    const readAll = async (): Promise<AuditLine[]> => {
      const lines: AuditLine[] = [];
      for await (const line of two.audit.read({ onDamage: () => (damaged += 1) })) lines.push(line);
      return lines;
    };
    await vi.waitFor(async () => expect(await readAll()).toHaveLength(150), SOON);
    const read = await readAll();
    expect([read.length, damaged]).toEqual([150, 0]);
    for (const tool of ["a", "b", "now"]) {
      const own = read.flatMap((line) => (line.type === "call" && line.tool === tool ? line : []));
      expect(own.map(({ bytes }) => bytes)).toEqual(own.map((_, at) => at));
    }
    const last: AuditLine[] = [];
    const filter = (line: AuditLine): boolean => line.type === "call" && line.tool === "b";
    for await (const line of one.audit.read({ filter, last: 2 })) last.push(line);
    expect(last).toMatchObject([
      { tool: "b", bytes: 48 },
      { tool: "b", bytes: 49 },
    ]);
  });

  it("audit: who follows it sees what the other records later, and a start only until its end", async () => {
    const [one, two] = await open(openTwo);
    const sink = one.audit.open(() => {});
    onTestFinished(() => sink.close());
    await sink.append(startOf("s1"));
    await sink.append(startOf("s2"));
    await sink.append(lineOf("ended", 3, "s1"));
    const isThere = async (): Promise<void> => {
      let lines = 0;
      for await (const _ of two.audit.read({})) lines += 1;
      expect(lines).toBe(2);
    };
    await vi.waitFor(isThere, SOON);
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const seen: string[] = [];
    const following = (async () => {
      for await (const line of two.audit.read({ follow: true, signal: stop.signal })) {
        if (line.type === "call") seen.push(line.tool);
        if (line.type === "start") seen.push(line.id);
      }
    })();
    await vi.waitFor(() => expect(seen).toEqual(["s2", "ended"]), SOON);
    await sink.append(lineOf("later", 4));
    await vi.waitFor(() => expect(seen).toEqual(["s2", "ended", "later"]), SOON);
    stop.abort();
    await following;
  });
}

export function testLimits(openTwo: OpenTwo<"limits">): void {
  it("limits: a call takes from every bucket or from none", async () => {
    const [one] = await open(openTwo);
    const [small, large] = [
      { key: "small", perMinute: 1 },
      { key: "large", perMinute: 2 },
    ];
    expect(await one.limits.take([large, small], 0)).toBeUndefined();
    expect(await one.limits.take([large, small], 0)).toMatchObject({ isRefused: true });
    expect(await one.limits.take([large], 0)).toBeUndefined();
    expect(await one.limits.take([small], 120_000)).toMatchObject({ isRefused: false });
    one.limits.giveBack([large]);
    expect(await one.limits.take([large], 0)).toBeUndefined();
  });
}

export function testPlaces(openTwo: OpenTwo<"limits">): void {
  it("limits: so many have a place at a time, and who leaves twice leaves once", async () => {
    const [one] = await open(openTwo);
    const [first, second] = [await one.limits.enter("k", 2), await one.limits.enter("k", 2)];
    expect([first, second]).toEqual([expect.any(Function), expect.any(Function)]);
    expect(await one.limits.enter("k", 2)).toBeUndefined();
    expect(await one.limits.enter("other", 2)).toBeDefined();
    first?.();
    first?.();
    expect(await one.limits.enter("k", 2)).toBeDefined();
    expect(await one.limits.enter("k", 2)).toBeUndefined();
  });
}

function testUsage(openTwo: OpenTwo<"usage">): void {
  it("usage: both count one day together, it outlives them, and the next one begins anew", async () => {
    const clock = { ...systemClock };
    const [one, two] = await open(openTwo, [clock, clock]);
    for (let at = 0; at < 5; at += 1) expect(await one.usage.use("k", 10)).toBe(true);
    expect(await one.usage.use("free", 1)).toBe(true);
    expect(await one.usage.use("free", 1)).toBe(false);
    // The other finds what is stored when it is first asked, and with what it stores itself.
    await vi.waitFor(async () => expect((await two.usage.today(["k"])).get("k")).toBe(5), SOON);
    for (let at = 0; at < 5; at += 1) expect(await two.usage.use("k", 10)).toBe(true);
    expect(await two.usage.use("k", 10)).toBe(false);
    await two.usage.close();
    expect(await one.usage.use("k", 100)).toBe(true);
    await one.usage.close();
    expect(await one.usage.use("k", 11)).toBe(false);
    expect(await one.usage.today(["free", "k", "x"])).toEqual(
      new Map([
        ["free", 1],
        ["k", 11],
      ]),
    );
    clock.now = () => Date.now() + 24 * 60 * 60 * 1000;
    expect(await one.usage.use("k", 1)).toBe(true);
    expect(await one.usage.use("k", 1)).toBe(false);
  });

  it("usage: days are counted although the clock was ahead for a while", async () => {
    const clock = { ...systemClock };
    const [one, two] = await open(openTwo, [clock, clock]);
    clock.now = () => Date.now() + 400 * 24 * 60 * 60 * 1000;
    expect(await one.usage.use("k", 5)).toBe(true);
    await one.usage.close();
    clock.now = Date.now;
    for (let at = 0; at < 2; at += 1) {
      expect(await one.usage.use("k", 3)).toBe(true);
      await one.usage.close();
    }
    expect(await two.usage.use("k", 3)).toBe(true);
    expect(await two.usage.use("k", 3)).toBe(false);
  });
}

function testTokens(openTwo: OpenTwo<"tokens">): void {
  it("tokens: the other knows a token, and within a second that it was revoked", async () => {
    const [one, two] = await open(openTwo);
    const { token, text } = await one.tokens.add({ name: "laptop", agents: ["main"] });
    await vi.waitFor(() => expect(two.tokens.find(text)).toMatchObject(token), SOON);
    expect(two.tokens.find(`${text.slice(0, -1)}_`)).toBeUndefined();
    await expect(two.tokens.add({ name: "laptop" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENTS",
    });
    expect((await two.tokens.list()).map(({ name }) => name)).toEqual(["laptop"]);
    await one.tokens.revoke("laptop");
    await vi.waitFor(() => expect(two.tokens.find(text)).toBeUndefined(), SOON);
    const defaults = await Promise.all([one.tokens.ensureDefault(), two.tokens.ensureDefault()]);
    expect(new Set(defaults).size).toBe(1);
    await vi.waitFor(() => expect(one.tokens.find(defaults[0])?.id).toBe("default"), SOON);
    expect((await two.tokens.list()).map(({ name }) => name)).toEqual(["default"]);
    await two.tokens.revoke("default");
    await vi.waitFor(() => expect(one.tokens.current("default")).toBeUndefined(), SOON);
    expect(await one.tokens.ensureDefault()).not.toBe(defaults[0]);
  });
}

function testSignOuts(openTwo: OpenTwo<"tokens">): void {
  it("sign-outs: the other knows within a second who was signed out, and until when", async () => {
    const [one, two] = await open(openTwo);
    expect(two.tokens.signedOutUntil("jwt:a#ann")).toBe(-Infinity);
    const before = Date.now();
    await one.tokens.signOut("jwt:a#ann");
    await vi.waitFor(() => {
      expect(two.tokens.signedOutUntil("jwt:a#ann")).toBeGreaterThan(before);
    }, SOON);
    expect(two.tokens.signedOutUntil("jwt:a#bob")).toBe(-Infinity);
    const first = two.tokens.signedOutUntil("jwt:a#ann");
    await two.tokens.signOut();
    await vi.waitFor(
      () => expect(one.tokens.signedOutUntil("jwt:a#bob")).toBeGreaterThan(before),
      SOON,
    );
    // Who was signed out alone before that, was signed out with all others.
    expect(one.tokens.signedOutUntil("jwt:a#ann")).toBeGreaterThanOrEqual(first);
    const all = one.tokens.signedOutUntil("jwt:a#bob");
    await one.tokens.signOut("jwt:a#bob");
    await vi.waitFor(
      () => expect(two.tokens.signedOutUntil("jwt:a#bob")).toBeGreaterThanOrEqual(all),
      SOON,
    );
    expect(two.tokens.signedOutUntil("jwt:a#eve")).toBe(all);
  });
}

function testSessions(openTwo: OpenTwo<"sessions">): void {
  it("sessions: the other knows within a second what was noted and what has ended, for good", async () => {
    const [one, two] = await open(openTwo);
    await one.sessions.set("n", LATER, { logLevel: "debug", subscriptions: ["a:1"] });
    await vi.waitFor(
      () => expect(two.sessions.get("n")).toEqual({ logLevel: "debug", subscriptions: ["a:1"] }),
      SOON,
    );
    const revoked = one.sessions.revoke("n", LATER);
    expect(one.sessions.isRevoked("n")).toBe(true);
    await revoked;
    await vi.waitFor(() => expect(two.sessions.isRevoked("n")).toBe(true), SOON);
    await two.sessions.set("n", LATER, { logLevel: "info" });
    expect([two.sessions.isRevoked("n"), two.sessions.get("n")]).toEqual([true, undefined]);
    expect(two.sessions.isRevoked("other")).toBe(false);
  });
}

export function testSessionBounds(
  openTwo: (clocks: readonly [Clock, Clock]) => Promise<readonly [NotedSessions, NotedSessions]>,
): void {
  it("sessions: what one caller has noted is bounded, and nothing of anybody else is forgotten for it", async () => {
    const [one, two] = await openTwo(CLOCKS);
    onTestFinished(async () => {
      for (const each of [one, two]) await each.close?.();
    });
    await one.sessions.set("bob's", LATER, { logLevel: "debug" }, "bob");
    await one.sessions.set("nobody's", LATER, { logLevel: "debug" });
    await one.sessions.revoke("ended", LATER, "ann");
    // A million characters in each.
    const subscriptions = Array.from({ length: 10 }, (_, at) => `${at}:`.padEnd(100_000, "x"));
    const greedy = ["n0", "n1", "n2", "n3", "n4"];
    for (const nonce of greedy) await one.sessions.set(nonce, LATER, { subscriptions }, "ann");
    await vi.waitFor(() => expect(two.sessions.get("n4")).toBeDefined(), SOON);
    for (const { sessions } of [one, two]) {
      const isKnown = (nonce: string): boolean => sessions.get(nonce) !== undefined;
      // Whoever reads late what they wrote themselves has room for one more of them.
      expect(greedy.filter(isKnown).length).toBeLessThan(greedy.length);
      expect(["n4", "bob's", "nobody's"].filter(isKnown)).toHaveLength(3);
      expect(sessions.isRevoked("ended")).toBe(true);
    }
  });
}

interface NotedSessions {
  sessions: Pick<SharedState["sessions"], "isRevoked" | "revoke" | "get" | "set">;
  close?: () => Promise<void>;
}

function testShared(openTwo: OpenTwo<"sessions">): void {
  it("sessions: what two note at once of one session is joined, and each hears of the other", async () => {
    const [one, two] = await open(openTwo);
    const heard = [new Set<string>(), new Set<string>()] as const;
    onTestFinished(one.sessions.onChange((nonce) => heard[0].add(nonce)));
    onTestFinished(two.sessions.onChange((nonce) => heard[1].add(nonce)));
    await one.sessions.set("n", LATER, { logLevel: "debug", subscriptions: ["a:0"] });
    await vi.waitFor(() => expect(two.sessions.get("n")?.subscriptions).toEqual(["a:0"]), SOON);
    await Promise.all([
      one.sessions.set("n", LATER, { logLevel: "debug", subscriptions: ["a:0", "a:1"] }),
      two.sessions.set("n", LATER, { logLevel: "debug", subscriptions: ["a:2"] }),
    ]);
    for (const { sessions } of [one, two]) {
      await vi.waitFor(
        () => expect(sessions.get("n")?.subscriptions?.toSorted()).toEqual(["a:1", "a:2"]),
        SOON,
      );
    }
    await vi.waitFor(() => expect(heard.map(({ size }) => size)).toEqual([1, 1]), SOON);
    await one.sessions.revoke("ended", LATER);
    await vi.waitFor(() => expect([...heard[1]]).toEqual(["n", "ended"]), SOON);
    expect([...heard[0]]).toEqual(["n"]);
  });

  it("sessions: of all who claim something, one gets it", async () => {
    const both = await open(openTwo);
    const claims = Array.from({ length: 8 }, (_, at) =>
      both[at % 2 ? 1 : 0].sessions.claim("once", LATER),
    );
    expect((await Promise.all(claims)).filter(Boolean)).toHaveLength(1);
    await both[0].sessions.revoke("ended", LATER);
    await vi.waitFor(() => expect(both[1].sessions.isRevoked("ended")).toBe(true), SOON);
    expect(await both[1].sessions.claim("ended", LATER)).toBe(false);
  });
}

function testSealKeys(openTwo: OpenTwo<"openSealKeys">): void {
  it("seal keys: both have the same, however they start", async () => {
    const both = await open(openTwo);
    const problems: string[] = [];
    const onProblem = (message: string): void => void problems.push(message);
    const rings = await Promise.all(
      both.map((state) => state.openSealKeys({ keepFor: 1000, onProblem })),
    );
    onTestFinished(() => {
      for (const ring of rings) ring.close();
    });
    const [first, second] = rings.map(({ current }) => current);
    expect(second?.id).toBe(first?.id);
    expect(second?.key.equals(first?.key ?? second.key)).toBe(true);
    expect(rings[1]?.find(first?.id ?? -1)?.key.equals(second?.key ?? first!.key)).toBe(true);
    expect(problems).toEqual([]);
  });

  it("seal keys: of a key that one has made when it was due, the other hears, and the old one stays", async () => {
    const [now, later] = await open(openTwo, [systemClock, NEXT_MONTH]);
    const options = { keepFor: 2 * MONTH, onProblem: () => {} };
    const first = await now.openSealKeys(options);
    onTestFinished(() => first.close());
    const old = first.current.id;
    const second = await later.openSealKeys(options);
    onTestFinished(() => second.close());
    const made = (old + 1) % 256;
    expect(second.find(made)).toBeDefined();
    expect(second.find(old)?.key.equals(first.current.key)).toBe(true);
    await vi.waitFor(
      () => expect(first.find(made)?.key.equals(second.find(made)!.key)).toBe(true),
      SOON,
    );
  });
}

/** A call of a tool; `at` counts them. */
function lineOf(tool: string, at: number, start?: string): Buffer {
  const line = {
    type: "call",
    start,
    time: new Date(at).toISOString(),
    agent: "main",
    server: "docs",
    tool,
    decision: "allowed",
    durationMs: 1,
    bytes: at,
    outcome: "ok",
  };
  return Buffer.from(`${JSON.stringify(line)}\n`);
}

function startOf(id: string): Buffer {
  const time = new Date(1).toISOString();
  const line = { type: "start", id, time, agent: "main", server: "docs", tool: "write" };
  return Buffer.from(`${JSON.stringify(line)}\n`);
}
