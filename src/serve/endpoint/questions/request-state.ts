// `requestState` of 2026-07-28: what a client brings back with its answers. It is sealed, and only good for the same
// request of the same caller, for a while.

import { createHash } from "node:crypto";
import type { InputRequired, InputResponses } from "../../../core/types/caller-options.ts";
import { isJsonObject, type JsonObject } from "../../../core/types/json.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import type { Clock } from "../../../util/clock.ts";
import type { Exchange } from "../client.ts";
import { invalidParams, type RpcError } from "../message.ts";
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
  /** Two agents may have different servers of the same name. */
  agent: string;
  method: string;
  /** The tool, the prompt or the URI. */
  name: string;
  /** Hash of the arguments. */
  args: string;
}

export interface RequestState {
  /** A call that waits in a process, and whose that is if there are several. */
  held?: string;
  home?: string;
  /** What the server itself wants back. */
  upstream?: unknown;
}

export function boundTo(
  { client, request }: Exchange,
  { agent = "" }: { agent?: string },
  name: string,
  args: JsonObject,
): Bound {
  const hash = createHash("sha256").update(canonicalJson(args)).digest("base64url");
  return { caller: client.caller.id, agent, method: request.method, name, args: hash };
}

export function sealState(state: RequestState, bound: Bound, { sealer, clock }: Sealing): string {
  return sealer.seal(PURPOSE, { ...bound, ...state, expiresAt: clock.now() + HOLD_MS });
}

/** What a client brings back with a request that it sends again. Nothing of it is there the first time. */
export interface BroughtBack {
  responses: JsonObject | undefined;
  state: RequestState | undefined;
}

/** `bound` is only made for a request that brings a state back: most bring none. */
export function readBroughtBack(
  { inputResponses: responses, requestState }: JsonObject,
  bound: () => Bound,
  sealing: Sealing,
): BroughtBack | { error: RpcError } {
  if (responses !== undefined && !isJsonObject(responses)) {
    return invalidParams("inputResponses is not an object");
  }
  if (requestState === undefined) return { responses, state: undefined };
  const state = openState(requestState, bound(), sealing);
  return state === undefined ? invalidParams(INVALID_STATE) : { responses, state };
}

/** The home of the call that waits for what a client brings back. Whether it is good for the request is said there. */
export function holderIn(requestState: unknown, sealer: Sealer): string | undefined {
  if (typeof requestState !== "string") return undefined;
  const home = sealer.open(PURPOSE, requestState)?.["home"];
  return typeof home === "string" ? home : undefined;
}

/** For the board: the answers, or that the server's questions shall come back. */
export function inputOf({ responses, state }: BroughtBack): "return" | InputResponses {
  if (responses === undefined && state === undefined) return "return";
  return { responses: responses ?? {}, requestState: state?.upstream };
}

/** Undefined if it is not good for this request. */
function openState(
  sealed: unknown,
  bound: Bound,
  { sealer, clock }: Sealing,
): RequestState | undefined {
  const state = typeof sealed === "string" ? sealer.open(PURPOSE, sealed) : undefined;
  if (state === undefined || Number(state["expiresAt"]) < clock.now()) return undefined;
  const { caller, agent, method, name, args } = bound;
  const isSame =
    state["caller"] === caller &&
    state["agent"] === agent &&
    state["method"] === method &&
    state["name"] === name &&
    state["args"] === args;
  return isSame ? state : undefined;
}

export const INVALID_STATE =
  "requestState is not valid for this request: it is for another one, other arguments, another agent or another caller, or has expired";

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
