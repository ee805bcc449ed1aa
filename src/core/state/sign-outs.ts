// Who was signed out and when, wherever it is stored: a time for each caller, and one for everybody.

import type { JsonObject } from "../types/json.ts";

/** Stands for everybody. No caller has an empty id. */
export const EVERYBODY = "";

/**
 * Clocks differ, those of providers too. What they have issued shortly after a sign-out may be from before it, and nobody must get
 * in with that.
 */
const SIGN_OUT_LEEWAY_MS = 30_000;

export type SignOuts = ReadonlyMap<string, number>;

export function untilIn(signOuts: SignOuts, caller: string): number {
  const last = Math.max(...[caller, EVERYBODY].map((who) => signOuts.get(who) ?? -Infinity));
  return last + SIGN_OUT_LEEWAY_MS;
}

/** With one more. */
export function withSignOut(signOuts: SignOuts, who: string, at: number): SignOuts {
  return withSignOuts(signOuts, [[who, at]]);
}

/** The latest of each. Those of single callers say nothing once everybody was signed out after them. */
export function withSignOuts(
  signOuts: SignOuts,
  more: Iterable<readonly [who: string, at: number]>,
): SignOuts {
  const all = new Map(signOuts);
  for (const [who, at] of more) all.set(who, Math.max(at, all.get(who) ?? at));
  const everybody = all.get(EVERYBODY) ?? -Infinity;
  return new Map([...all].filter(([each, time]) => each === EVERYBODY || time > everybody));
}

/** What is no time is left out. */
export function signOutsIn(stored: JsonObject): SignOuts {
  return new Map(
    Object.entries(stored).flatMap(([who, at]) => (typeof at === "number" ? [[who, at]] : [])),
  );
}
