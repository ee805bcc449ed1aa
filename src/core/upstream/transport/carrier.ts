// What carries a connection: a process and its pipes, requests to a URL, or requests to an ACP client. The port
// between a connection and the transports.

import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { ProtocolEra, RemoteTransportKind } from "../../types/connection.ts";
import type { PlugboardError } from "../../types/errors.ts";
import type { JsonObject } from "../../types/json.ts";
import type { FailureCause } from "../log/find-cause.ts";
import type { ParamHeader } from "../../types/param-headers.ts";
import type { RequestOptions } from "./pending-calls.ts";

/** An SDK transport that also makes requests of the host's own. */
export interface Wire extends Transport {
  /** Gets the log messages of which the wire knows the request that they belong to. The SDK gets the others. */
  onlog?: (params: unknown, request: RequestOptions) => void;
  /**
   * Set by whoever takes the messages: resolves when they take more of what the server asks; undefined if they do now. The
   * wire reads nothing more meanwhile, where it can wait.
   */
  room?: () => Promise<void> | undefined;
  /** Rejects with a PlugboardError only. */
  request(method: string, params: JsonObject, options: RequestOptions): Promise<unknown>;
  callTool(name: string, args: JsonObject, options: RequestOptions): Promise<unknown>;
  /** The handshake is done: the wire itself answers an `initialize` of the SDK's, and does not send its `initialized`. */
  adoptInitializeResult(result: JsonObject): void;
  /** 2026-07-28 wants this `_meta` in every request and notification. */
  adoptMeta(meta: JsonObject): void;
  /** The parameters to mirror as headers in calls of 2026-07-28, by tool; absent on stdio, which has no headers. */
  adoptParamHeaders?(byTool: ReadonlyMap<string, readonly ParamHeader[]>): void;
  /** Stops the clock of all calls until `wait` settles: a person is being asked. */
  hold<Result>(wait: Promise<Result>): Promise<Result>;
  /** Ends the conversation; everything pending fails with `error`. */
  end(error: PlugboardError): void;
}

/** What ends a handshake up to 2025-11-25. */
export const INITIALIZED = { jsonrpc: "2.0", method: "notifications/initialized" } as const;

export function isInitialized(message: JSONRPCMessage): boolean {
  return "method" in message && message.method === INITIALIZED.method;
}

export interface Carrier {
  readonly wire: Wire;
  /** Only a process has one. */
  readonly pid?: number;
  /** Only for a URL. */
  readonly transport?: RemoteTransportKind;
  /** Settles with the reason when the conversation ends without our having ended it. */
  readonly broken: Promise<PlugboardError>;
  /** What to do about a server that does not answer in time. Absent: as for a program. */
  readonly lateHint?: string;
  stderrTail?(): string[];
  /** What the server said was missing when it started, such as a key, although it runs. */
  missing?(): string | undefined;
  /** What the server itself says about why it does not work, if it has said anything. */
  cause?(): FailureCause | undefined;
  /** Call it after the handshake. The carrier calls `onRenewed` when the server may have forgotten everything. */
  established?(era: ProtocolEra, onRenewed: () => void): void;
  /** Idempotent; resolves when nothing is left. Call `wire.end` first. */
  stop(): Promise<void>;
}
