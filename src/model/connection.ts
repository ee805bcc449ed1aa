// The port between a supervisor and the conversation with its server, whatever the transport.

import type { PlugboardError } from "./errors.ts";
import type { JsonObject } from "./json.ts";
import type { ServerContent } from "./server-content.ts";
import type { RequestHandlers } from "./server-request.ts";
import type { Progress, ToolDefinition } from "./tool.ts";
import type { Diagnostic } from "./diagnostic.ts";

export type ProtocolEra = "legacy" | "modern";

export type RemoteTransportKind = "http" | "sse";

export interface CallOptions {
  /** Handed on with what the server asks because of the call. */
  callId?: string;
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
  /** Milliseconds without an answer or progress. */
  timeout: number;
  /** Milliseconds that progress may extend it to. */
  ceiling: number;
  /** The caller's own, for what the call causes. */
  handlers?: RequestHandlers;
}

export interface ToolList {
  tools: ToolDefinition[];
  diagnostics: Diagnostic[];
}

export interface ServerIdentity {
  name?: string;
  version?: string;
  instructions?: string;
  protocolVersion: string;
  era: ProtocolEra;
  /** What carries the conversation, where the definition leaves it open. */
  transport?: RemoteTransportKind;
}

export interface Connection {
  readonly identity: ServerIdentity;
  readonly pid: number | undefined;
  /** What there is beside tools. */
  readonly content: ServerContent;
  /** Settles once, when the conversation is over, with the reason; undefined after `close()`. */
  readonly closed: Promise<PlugboardError | undefined>;
  listTools(): Promise<ToolList>;
  /**
   * Resolves to the server's result as it came, unchecked; rejects with a PlugboardError when there is
   * no answer of the server's own.
   */
  callTool(name: string, args: JsonObject, options: CallOptions): Promise<unknown>;
  /** Resolves to the round trip in milliseconds, or undefined where the protocol has no ping. */
  ping(timeout: number): Promise<number | undefined>;
  onToolsChanged(listener: () => void): void;
  /** The last lines the server wrote to stderr. */
  stderrTail(): string[];
  /** Idempotent; resolves when nothing of the server is left running. */
  close(): Promise<void>;
}
