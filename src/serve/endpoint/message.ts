// JSON-RPC as the endpoint reads and writes it: messages, answers, and the protocol's error codes.

import { isJsonObject, type JsonObject } from "../../core/types/json.ts";

export type RequestId = string | number;

/** It is in every message about its request, also in each that a stream of changes has. */
const LONGEST_ID = 1000;

export interface RpcRequest {
  id: RequestId;
  method: string;
  params: JsonObject;
}

export interface RpcNotification {
  method: string;
  params: JsonObject;
}

/** A client's answer to something that it was asked. */
interface RpcResponse {
  id: RequestId;
  answer: Answer;
}

export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

/** How a request ended. */
export type Answer = { result: JsonObject } | { error: RpcError };

export type Incoming =
  | { kind: "request"; request: RpcRequest }
  | { kind: "notification"; notification: RpcNotification }
  | { kind: "response"; response: RpcResponse }
  | { kind: "invalid"; id: RequestId | null; error: RpcError };

export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
  /** A resource that is not there, up to 2025-11-25; later it is `invalidParams`. */
  resourceNotFound: -32002,
} as const;

export function refuse(code: number, message: string, data?: unknown): { error: RpcError } {
  return { error: { code, message, data } };
}

export function invalidParams(message: string): { error: RpcError } {
  return refuse(RPC.invalidParams, `Invalid params: ${message}`);
}

/** Never throws: whatever is not a message of JSON-RPC is `invalid`. */
export function readMessage(value: unknown): Incoming {
  if (!isJsonObject(value) || value.jsonrpc !== "2.0") {
    return invalid(null, "the message is not JSON-RPC 2.0");
  }
  const { id, method, params, result, error } = value;
  if (typeof method === "string") {
    if (params !== undefined && !isJsonObject(params)) {
      return invalid(isId(id) ? id : null, "params is not an object");
    }
    if (id === undefined) {
      return { kind: "notification", notification: { method, params: params ?? {} } };
    }
    if (!isId(id))
      return invalid(
        null,
        `the id is neither a number nor a text of up to ${LONGEST_ID} characters`,
      );
    return { kind: "request", request: { id, method, params: params ?? {} } };
  }
  if (isId(id) && isJsonObject(result))
    return { kind: "response", response: { id, answer: { result } } };
  if (isId(id) && isJsonObject(error)) {
    const { code, message, data } = error;
    const read = {
      code: typeof code === "number" ? code : RPC.internalError,
      message: typeof message === "string" ? message : "",
      data,
    };
    return { kind: "response", response: { id, answer: { error: read } } };
  }
  return invalid(isId(id) ? id : null, "the message has no method, result or error");
}

function isId(id: unknown): id is RequestId {
  return typeof id === "string" ? id.length <= LONGEST_ID : Number.isFinite(id);
}

function invalid(id: RequestId | null, fault: string): Incoming {
  return { kind: "invalid", id, ...refuse(RPC.invalidRequest, `Invalid Request: ${fault}`) };
}

export function response(id: RequestId | null, answer: Answer): JsonObject {
  return { jsonrpc: "2.0", id, ...answer };
}

export function notification(method: string, params?: JsonObject): JsonObject {
  return { jsonrpc: "2.0", method, params };
}
