import { describe, expect, it } from "vitest";
import {
  type KnownSession,
  KnownSessions,
  MOST_SESSIONS,
  MOST_SESSIONS_OF_ONE,
  MOST_SUBSCRIBED,
  MOST_SUBSCRIBED_OF_ONE,
} from "../../../src/core/state/known-sessions.ts";

const LATER = 1000;
const ENDED: KnownSession = { expiresAt: LATER, isRevoked: true };

function subscribed(...subscriptions: string[]): KnownSession {
  return { expiresAt: LATER, isRevoked: false, notes: { subscriptions } };
}

describe("the sessions that are remembered", () => {
  it("are limited in number: those that were remembered first are forgotten", () => {
    const sessions = new KnownSessions();
    for (let at = 0; at < MOST_SESSIONS; at += 1) sessions.set(`n${at}`, ENDED);
    expect(sessions.get("n0")).toBe(ENDED);
    sessions.set("another", ENDED);
    expect(sessions.size).toBe(MOST_SESSIONS * 0.75);
    expect([sessions.get("n0"), sessions.get("another")]).toEqual([undefined, ENDED]);
  });

  it("are forgotten for others of their kind only: nobody's notes bring back an ended session", () => {
    const sessions = new KnownSessions();
    sessions.set("noted", subscribed("a://b"));
    sessions.set("ended", ENDED);
    sessions.set("later ended", subscribed("a://b"));
    sessions.set("later ended", ENDED);
    for (let at = 0; at < MOST_SESSIONS; at += 1) sessions.set(`n${at}`, subscribed());
    expect(sessions.size).toBe(MOST_SESSIONS * 0.75 + 2);
    expect([sessions.get("ended"), sessions.get("later ended")]).toEqual([ENDED, ENDED]);
    expect(sessions.get("noted")).toBeUndefined();
    sessions.set("noted", subscribed("a://b"));
    for (let at = 0; at < MOST_SESSIONS; at += 1) sessions.set(`e${at}`, ENDED);
    expect(sessions.get("ended")).toBeUndefined();
    expect(sessions.get("noted")).toEqual(subscribed("a://b"));
  });

  it("are never forgotten by what they have just changed themselves", () => {
    const sessions = new KnownSessions();
    const uri = "x".repeat(MOST_SUBSCRIBED / 16);
    sessions.set("first", subscribed("a://b"));
    for (let at = 0; at < 15; at += 1) sessions.set(`n${at}`, subscribed(uri));
    sessions.set("first", subscribed(uri, "a://b"));
    expect(sessions.get("first")).toEqual(subscribed(uri, "a://b"));
    expect(sessions.get("n0")).toBeUndefined();
  });

  it("have subscribed to so much at most, and none of those that were ended is forgotten for that", () => {
    const sessions = new KnownSessions();
    const uri = "x".repeat(MOST_SUBSCRIBED / 16);
    sessions.set("ended", ENDED);
    for (let at = 0; at < 16; at += 1) sessions.set(`n${at}`, subscribed(uri));
    // What one has ended, or no longer subscribes to, makes room for another.
    sessions.set("n15", subscribed());
    sessions.set("n14", ENDED);
    sessions.delete("n13");
    for (const nonce of ["a", "b", "c"]) sessions.set(nonce, subscribed(uri));
    expect(sessions.get("n0")).toBeDefined();
    sessions.set("d", subscribed(uri));
    const left = [...sessions].flatMap(([nonce, { notes }]) =>
      notes?.subscriptions?.length ? [nonce] : [],
    );
    expect(left).toEqual(
      [5, 6, 7, 8, 9, 10, 11, 12].map((at) => `n${at}`).concat("a", "b", "c", "d"),
    );
    expect([sessions.get("ended"), sessions.get("n14")]).toEqual([ENDED, ENDED]);
    expect(sessions.get("n15")).toBeDefined();
  });

  it("of one caller are so many at most, of each kind, and make room among themselves", () => {
    const sessions = new KnownSessions();
    const ofAnn = { owner: "ann" };
    sessions.set("bob's", { ...ENDED, owner: "bob" });
    sessions.set("nobody's", ENDED);
    sessions.set("first", { ...subscribed("a://b"), ...ofAnn });
    for (let at = 0; at <= MOST_SESSIONS_OF_ONE; at += 1) {
      sessions.set(`n${at}`, { ...ENDED, ...ofAnn });
    }
    expect(sessions.size).toBe(MOST_SESSIONS_OF_ONE * 0.75 + 3);
    expect(["bob's", "nobody's", "first"].map((each) => sessions.get(each) !== undefined)).toEqual([
      true,
      true,
      true,
    ]);
    expect([sessions.get("n0"), sessions.get(`n${MOST_SESSIONS_OF_ONE}`)?.isRevoked]).toEqual([
      undefined,
      true,
    ]);
  });

  it("of one caller have subscribed to so much at most, also of those that have ended meanwhile", () => {
    const sessions = new KnownSessions();
    const uri = "x".repeat(MOST_SUBSCRIBED_OF_ONE / 4);
    const large = { ...subscribed(uri), owner: "ann" };
    sessions.set("bob's", { ...subscribed(uri), owner: "bob" });
    for (let at = 0; at < 4; at += 1) sessions.set(`n${at}`, large);
    // What was ended or is another's now makes room.
    sessions.set("n3", { ...ENDED, owner: "ann" });
    sessions.set("n2", { ...large, owner: "cid" });
    for (const nonce of ["a", "b"]) sessions.set(nonce, large);
    expect(sessions.get("n0")).toBe(large);
    sessions.set("c", large);
    const left = [...sessions].flatMap(([nonce, { notes }]) => (notes ? [nonce] : []));
    expect(left).toEqual(["bob's", "n2", "a", "b", "c"]);
  });

  it("are forgotten when they expire", () => {
    const sessions = new KnownSessions();
    sessions.set("early", { ...ENDED, expiresAt: LATER - 1 });
    sessions.set("late", ENDED);
    sessions.forgetExpired(LATER - 1);
    expect([...sessions].map(([nonce]) => nonce)).toEqual(["late"]);
  });
});
