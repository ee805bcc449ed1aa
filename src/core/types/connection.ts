// The port between a supervisor and the conversation with its server, whatever the transport.

import type { CallerOptions } from "./caller-options.ts";
import type { Diagnostic } from "./diagnostic.ts";
import type { PlugboardError } from "./errors.ts";
import type { JsonObject } from "./json.ts";
import type { RequestHandlers } from "./request-handlers.ts";
import type { ServerContent } from "./server-content.ts";
import type { Progress, ToolDefinition, UpdateListener } from "./tool.ts";
import type { CallSignal } from "../../util/abort.ts";

/** `modern` is MCP 2026-07-28 and later, `legacy` everything before it. */
export type ProtocolEra = "legacy" | "modern";

export type RemoteTransportKind = "http" | "sse";

/** One request to a server, whatever it is for: what its caller gives with it, and how long it may take. */
export interface CallerRequest extends Pick<
  CallerOptions,
  "meta" | "input" | "clientCapabilities"
> {
  signal?: CallSignal | undefined;
  /** For a gateway, which guards the request: who makes it, and who approves it. */
  by?: Pick<CallerOptions, "caller" | "approvalsOf" | "onApproval"> | undefined;
  /** Passed on with the questions that the server asks because of the request. */
  callId?: string | undefined;
  /** Identifies the board that the request is made on: what a server logs about the request is for that board. */
  board?: object | undefined;
  /** The caller's handlers for what the server asks because of the request. */
  handlers?: RequestHandlers | undefined;
  /** For a gateway, which guards the request: only rules apply, no limits and no approval. */
  asksNobody?: boolean | undefined;
  /** Milliseconds without an answer or progress after which it fails. */
  timeout: number;
}

export interface CallOptions extends CallerRequest {
  /** The arguments as JSON, if somebody has made that already. */
  argsJson?: string | undefined;
  onProgress?: (progress: Progress) => void;
  /** For a gateway: everything that is told before the result, progress included. */
  onUpdate?: UpdateListener | undefined;
  /** Milliseconds after which the call fails even if there is progress. */
  ceiling: number;
  /** Is told how long the call waits for answers to what its server asks. */
  waits?: { waitedMs: number } | undefined;
}

export interface ToolList {
  tools: ToolDefinition[];
  diagnostics: Diagnostic[];
  /** What the host had advertised to the server, which may list other tools for other capabilities. */
  capabilities: JsonObject;
  /** The server has answered with an error, so that nothing is known of its tools but what was known before. */
  hasFailed?: true;
}

/** What a server said about itself in the handshake. */
export interface ServerIdentity {
  name?: string;
  version?: string;
  instructions?: string;
  protocolVersion: string;
  era: ProtocolEra;
  /** What it says it can do: `resources`, and each switch of it, such as `resources.subscribe`. */
  capabilities?: readonly string[];
  /**
   * The other era was asked first, but the server was out of order at that time. So the next start asks for the other
   * era again.
   */
  isEraDoubtful?: true;
  /** The transport that worked. */
  transport?: RemoteTransportKind;
}

export interface Connection {
  readonly identity: ServerIdentity;
  readonly pid: number | undefined;
  /** The server's resources and prompts. */
  readonly content: ServerContent;
  /** Resolves when the connection has ended: to the reason, or to undefined after `close()`. */
  readonly closed: Promise<PlugboardError | undefined>;
  listTools(): Promise<ToolList>;
  /**
   * Resolves to the server's result, unchecked. Rejects with a PlugboardError if the server sent no result.
   */
  callTool(name: string, args: JsonObject, options: CallOptions): Promise<unknown>;
  /** Resolves to the round trip in milliseconds, or to undefined if the protocol has no ping. */
  ping(timeout: number): Promise<number | undefined>;
  onToolsChanged(listener: () => void): void;
  /** The last lines that the server wrote to stderr. */
  stderrTail(): string[];
  /** What it said was missing when it started, such as a key, although it runs. */
  missing(): string | undefined;
  /** Idempotent; resolves when no process of the server is left. */
  close(): Promise<void>;
}
