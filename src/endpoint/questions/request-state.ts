// `requestState` of 2026-07-28: what a client brings back with its answers. It is sealed, and only good for the same
// request of the same caller, for a while.

import { createHash } from "node:crypto";
import type { InputRequired } from "../../model/caller-options.ts";
import type { JsonObject } from "../../model/json.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import type { Clock } from "../../util/clock.ts";
import type { Exchange } from "../client.ts";
import type { Sealer } from "../sealed.ts";
import { HOLD_MS } from "./held-calls.ts";

const PURPOSE = "requestState";

interface Sealing {
  sealer: Sealer;
  clock: Clock;
}

/** The part that says what the state is good for. */
export interface Bound {
  caller: string;
  method: string;
  /** The tool, the prompt or the URI. */
  name: string;
  /** Hash of the arguments. */
  args: string;
}

export interface RequestState {
  /** A call that waits in this process. */
  held?: string;
  /** What the server itself wants back. */
  upstream?: unknown;
}

export function boundTo({ client, request }: Exchange, name: string, args: JsonObject): Bound {
  const hash = createHash("sha256").update(canonicalJson(args)).digest("base64url");
  return { caller: client.caller.id, method: request.method, name, args: hash };
}

export function sealState(state: RequestState, bound: Bound, { sealer, clock }: Sealing): string {
  return sealer.seal(PURPOSE, { ...bound, ...state, expiresAt: clock.now() + HOLD_MS });
}

/** Undefined if the client sent none. "invalid" if it is not good for this request. */
export function openState(
  sealed: unknown,
  bound: Bound,
  { sealer, clock }: Sealing,
): RequestState | undefined | "invalid" {
  if (sealed === undefined) return undefined;
  const state = typeof sealed === "string" ? sealer.open(PURPOSE, sealed) : undefined;
  if (state === undefined || Number(state["expiresAt"]) < clock.now()) return "invalid";
  const { caller, method, name, args } = bound;
  const isSame =
    state["caller"] === caller &&
    state["method"] === method &&
    state["name"] === name &&
    state["args"] === args;
  return isSame ? state : "invalid";
}

export const INVALID_STATE =
  "requestState is not valid for this request: it is for another one, other arguments or another caller, or has expired";

/** What a server of 2026-07-28 asks, whole. */
export function askedByServer(
  { inputRequests, requestState }: InputRequired,
  bound: Bound,
  context: Sealing,
): JsonObject {
  return {
    resultType: "input_required",
    ...(Object.keys(inputRequests).length > 0 && { inputRequests }),
    ...(requestState !== undefined && {
      requestState: sealState({ upstream: requestState }, bound, context),
    }),
  };
}
