// The arguments of a call as they are sent. Before a person is asked, they become a text, and the call goes on with what
// this text says: whoever has the objects that they were given as could otherwise change what was approved.

import { PlugboardError } from "../types/errors.ts";
import type { GuardedCall } from "../types/guard.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";
import { errorMessage } from "../../util/error-message.ts";
import { isDeeperThan, REFUSED_DEPTH } from "../../util/json-depth.ts";

/** Throws INVALID_ARGUMENTS for what cannot be sent as JSON. */
export function requireSendable(call: GuardedCall): void {
  requireShallow(call);
  // A `toJSON` may give anything, and something else each time.
  if (typeof call.args["toJSON"] === "function") settleArguments(call);
}

/**
 * From now on nobody but the call has what it sends. Returns its arguments once more, to be shown. Throws
 * INVALID_ARGUMENTS for what cannot be sent as JSON.
 */
export function settleArguments(call: GuardedCall): JsonObject {
  requireShallow(call);
  const { request } = call;
  try {
    call.argsJson ??= JSON.stringify(call.args);
    if (request !== undefined) {
      const { meta, input, clientCapabilities } = request;
      const text = JSON.stringify({ meta, input, clientCapabilities });
      call.request = JSON.parse(text) as typeof request;
    }
  } catch (cause) {
    // A cycle, a BigInt, or a getter that throws.
    throw unreadable(call, cause);
  }
  call.args = parsed(call);
  requireShallow(call);
  return parsed(call);
}

function requireShallow(call: GuardedCall): void {
  const { args, request } = call;
  let isDeep: boolean;
  try {
    isDeep = isDeeperThan(REFUSED_DEPTH, args);
  } catch (cause) {
    // A getter or a proxy that throws.
    throw unreadable(call, cause);
  }
  if (isDeep) throw tooDeep("the arguments are", call);
  if (request === undefined) return;
  const { meta, input, clientCapabilities } = request;
  if (isDeeperThan(REFUSED_DEPTH, meta)) throw tooDeep("the metadata of the call is", call);
  if (isDeeperThan(REFUSED_DEPTH, input)) throw tooDeep("the answers to the server are", call);
  if (isDeeperThan(REFUSED_DEPTH, clientCapabilities)) {
    throw tooDeep("the capabilities of the client are", call);
  }
}

function parsed(call: GuardedCall): JsonObject {
  const { argsJson } = call;
  // A `toJSON` may give no text, or that of something else than an object.
  const value: unknown = argsJson === undefined ? undefined : JSON.parse(argsJson);
  if (!isJsonObject(value)) throw unreadable(call, new Error("as JSON they are not an object"));
  return value;
}

function unreadable(call: GuardedCall, cause: unknown): PlugboardError {
  const message = `the arguments cannot be read: ${errorMessage(cause)}; ${unsent(call)}`;
  return new PlugboardError("INVALID_ARGUMENTS", message, { cause });
}

function tooDeep(what: string, call: GuardedCall): PlugboardError {
  const message = `${what} nested more than ${REFUSED_DEPTH} levels deep; ${unsent(call)}`;
  return new PlugboardError("INVALID_ARGUMENTS", message);
}

function unsent({ subject }: GuardedCall): string {
  return subject.content === undefined ? "the tool was not called" : "nothing was sent";
}
