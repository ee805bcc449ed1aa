// What the relay reads of a message: whether it asks, tells or answers, and whom it is about.

import { RequestError } from "@agentclientprotocol/sdk";
import { PlugboardError, withHint } from "../../core/types/errors.ts";
import { isJsonObject, type JsonObject, objectIn } from "../../core/types/json.ts";
import { errorMessage } from "../../util/error-message.ts";

export type RpcId = string | number | null;

export type Message =
  | { kind: "request"; id: RpcId; method: string; params: JsonObject }
  | { kind: "notification"; method: string; params: JsonObject }
  | { kind: "answer"; id: RpcId; answer: Answer }
  /** Nothing that the protocol knows. */
  | { kind: "other" };

/** An answer has a result or an error. */
export interface Answer {
  result?: unknown;
  error?: unknown;
}

export function readMessage(value: unknown): Message {
  if (!isJsonObject(value)) return { kind: "other" };
  const { id, method, params } = value;
  const isId = typeof id === "string" || typeof id === "number" || id === null;
  if (typeof method === "string") {
    const known = objectIn(params);
    if (id === undefined) return { kind: "notification", method, params: known };
    return isId ? { kind: "request", id, method, params: known } : { kind: "other" };
  }
  if (!isId || !("result" in value || "error" in value)) return { kind: "other" };
  const { result, error } = value;
  return { kind: "answer", id, answer: "error" in value ? { error } : { result } };
}

/** 1 and "1" are two ids. */
export function idKey(id: unknown): string {
  return JSON.stringify(id);
}

export function encode(message: JsonObject): Buffer {
  return Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
}

/** Ids of the front's own requests. Nobody can guess them, and everybody can be told apart from them. */
export class OwnIds {
  readonly #prefix: string;
  #last = 0;

  constructor(random: string) {
    this.#prefix = `plugboard-${random}-`;
  }

  next(): string {
    this.#last += 1;
    return `${this.#prefix}${this.#last}`;
  }

  has(id: unknown): boolean {
    return typeof id === "string" && id.startsWith(this.#prefix);
  }
}

/** The error of an answer, in words. */
export function errorText(error: unknown): string {
  const message = isJsonObject(error) ? error["message"] : undefined;
  return typeof message === "string" ? message : "it gave no reason";
}

const AUTH_REQUIRED = -32000;

export function needsAuthentication({ error }: Answer): boolean {
  return isJsonObject(error) && error["code"] === AUTH_REQUIRED;
}

/** As an error of JSON-RPC. The client sent the configuration, so a mistake in it is an invalid parameter. */
export function toRpcError(error: unknown): JsonObject {
  if (error instanceof RequestError) {
    const { code, message, data } = error;
    return { code, message, data };
  }
  if (!(error instanceof PlugboardError)) {
    return { code: -32603, message: errorMessage(error) };
  }
  const { code, message, hint, problems } = error;
  if (code === "CONFIG_INVALID" || code === "INVALID_ARGUMENTS") {
    const [problem] = problems;
    const path = problem?.path ?? "";
    const text = problem?.message ?? withHint(error);
    const data = { path, message: text, code };
    return { code: -32602, message: path === "" ? text : `${path}: ${text}`, data };
  }
  return {
    code: -32603,
    message: hint === undefined ? message : `${message}\n${hint}`,
    data: { code },
  };
}
