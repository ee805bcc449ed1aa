// The port between a connection and what carries it: a process and its pipes, or requests to a URL.

import type { Transport } from "@modelcontextprotocol/client";
import type { ProtocolEra, RemoteTransportKind } from "../model/connection.ts";
import type { PlugboardError } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import type { ParamHeader } from "./param-headers.ts";
import type { RequestOptions } from "./transport/pending-calls.ts";

/** An SDK transport that also makes requests of the host's own. */
export interface Wire extends Transport {
  /** Rejects with a PlugboardError alone. */
  request(method: string, params: JsonObject, options: RequestOptions): Promise<unknown>;
  callTool(name: string, args: JsonObject, options: RequestOptions): Promise<unknown>;
  /** From now on an `initialize` of the SDK's is answered here instead of by the server. */
  adoptInitializeResult(result: JsonObject): void;
  /** 2026-07-28 wants this `_meta` in every request and notification. */
  adoptMeta(meta: JsonObject): void;
  /** The parameters to mirror as headers in calls of 2026-07-28, by tool; absent where there are no headers. */
  adoptParamHeaders?(byTool: ReadonlyMap<string, readonly ParamHeader[]>): void;
  /** While `wait` lasts, no call's time runs: a person is being asked. */
  hold<Result>(wait: Promise<Result>): Promise<Result>;
  /** Ends the conversation; what is waited for fails with `error`. */
  end(error: PlugboardError): void;
}

export interface Carrier {
  readonly wire: Wire;
  readonly pid: number | undefined;
  /** Absent for a process. */
  readonly transport?: RemoteTransportKind;
  /** Settles when the conversation is over and nobody asked for it, with the reason. */
  readonly broken: Promise<PlugboardError>;
  stderrTail(): string[];
  /** The handshake is over. `onRenewed` is to be called when the server may have forgotten everything. */
  established?(era: ProtocolEra, onRenewed: () => void): void;
  /** Idempotent; resolves when nothing is left. The wire has been ended before. */
  stop(): Promise<void>;
}
