// The port between a board and a gateway that runs some of its servers, and what a gateway tells of a server.

import type { SessionOptions } from "./board-options.ts";
import type { ServerIdentity, ToolList } from "./connection.ts";
import type { RedactorElsewhere } from "./redactor.ts";
import type { ServerContent } from "./server-content.ts";
import type { ServerDefinition } from "./server-definition.ts";
import type { ServerLogLevel } from "./server-log.ts";
import type { ServerState } from "./server-state.ts";
import type { LiveServer, ServerSupervisor, SupervisorListener, ToldStatus } from "./supervisor.ts";
import type { NativeTool, ToolDefinition } from "./tool.ts";
import type { EndTrace, TraceListener, TraceOptions } from "./trace.ts";

/** A server that a gateway runs. Its calls are guarded there, and nowhere else. */
export interface ServerInGateway {
  /** The tools as the gateway offers them, before rules; undefined if nobody knows them yet. */
  readonly tools: ToolList | undefined;
  /** The tools that are not as they were pinned; undefined if none of them is pinned. */
  readonly unpinned: readonly string[] | undefined;
  /** When it was pinned, in milliseconds since the epoch. */
  readonly pinnedAt: number | undefined;
  readonly identity: ServerIdentity | undefined;
  supervise(definition: ServerDefinition, listener: SupervisorListener): ServerSupervisor;
}

/** A native tool that runs in a gateway. Its calls go there like those of a server. */
export interface NativeToolInGateway extends NativeTool {
  /** Undefined while there is no gateway. */
  direct: () => Pick<LiveServer, "callTool"> | undefined;
}

/** What a gateway needs to know of a board that uses its servers, or of a session of that board. */
export interface BoardInGateway extends Pick<
  SessionOptions,
  | "cwd"
  | "id"
  | "approval"
  | "tools"
  | "rateLimit"
  | "owner"
  | "toolNames"
  | "defaultToolTimeout"
  | "toolTimeout"
  | "onApproval"
  | "onElicitation"
  | "onSampling"
> {
  /** The gateway's guard has something to tell the user. */
  onNotice: (text: string) => void;
}

/** The servers that a gateway runs for a board, as long as there is one. */
export interface GatewayPort {
  /** Undefined for a server that this process runs. */
  server(name: string): ServerInGateway | undefined;
  /** The tools of the configured modules, if these run in the gateway. Undefined: this process loads them. */
  native(): readonly NativeToolInGateway[] | undefined;
  /**
   * Is called when other servers are shared than before. Resolves when the board has taken that over; the servers that
   * this process runs now may still be starting.
   */
  onChange: (() => Promise<void>) | undefined;
  /** Decides anew which servers are shared, before another configuration is applied. Does not reject. */
  lookAgain(): Promise<void>;
  /** While the gateway has gone and nothing has taken its place yet: settles when it is known who runs the servers. */
  settled(signal?: AbortSignal): Promise<void> | undefined;
  /** `board` stands for it in the requests to its servers. Rejects as `openSession` does. */
  open(board: object, sharing: BoardInGateway): Promise<void>;
  /** The link ends with the last board, and with one that could not be opened if there is no other. */
  close(board: object): Promise<void>;
  /** Takes out the secrets of the gateway's servers. Nothing to take out if this process runs them all. */
  readonly redactor: RedactorElsewhere;
  setLogLevel(board: object, level: ServerLogLevel | undefined): void;
  /** Traces the servers that are shared. */
  trace(listener: TraceListener, options: TraceOptions): EndTrace;
}

/** A server of a gateway's board, as the gateway tells others of it. */
export interface SharedServer extends ToldStatus {
  name: string;
  state: ServerState;
  /** Those that rules hide included. Undefined if nobody knows them yet; the same array until they change. */
  tools: readonly { tool: ToolDefinition }[] | undefined;
  /** The tools that are not as they were pinned; undefined if none of them is pinned. */
  unpinned: readonly string[] | undefined;
  /** When it was pinned, in milliseconds since the epoch. */
  pinnedAt: number | undefined;
  /** Known while the server is up. */
  has: ServerContent["has"] | undefined;
}
