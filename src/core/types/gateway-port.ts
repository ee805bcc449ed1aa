// The ports between a board and what runs its servers: a supervisor for each, in this process or in a gateway.

import type { CallSignal } from "../../util/abort.ts";
import type { SessionOptions } from "./board-options.ts";
import type { Connection, ServerIdentity, ToolList } from "./connection.ts";
import type { PlugboardError } from "./errors.ts";
import type { ServerContent } from "./server-content.ts";
import type { ServerDefinition } from "./server-definition.ts";
import type { ServerLogLevel, ServerLogMessage } from "./server-log.ts";
import type { ServerState } from "./server-state.ts";
import type { ServerStatus } from "./server-status.ts";
import type { NativeTool, ToolDefinition } from "./tool.ts";
import type { EndTrace, TraceListener, TraceOptions } from "./trace.ts";

/** What a board asks of a server while it is up. */
export type LiveServer = Pick<Connection, "identity" | "content" | "callTool">;

/** Starts, watches, restarts and stops one server, or speaks for whoever does. */
export interface ServerSupervisor {
  /** Its settings may change at any time; what is started stays the same. */
  readonly definition: ServerDefinition;
  readonly state: ServerState;
  /** The connection, while the server is ready. */
  readonly live: LiveServer | undefined;
  /** What takes a call at once: a ready server, or a gateway, which starts the server if the call may be made. */
  readonly direct: LiveServer | undefined;
  readonly restarts: number;
  readonly lastError: PlugboardError | undefined;
  readonly stats: { snapshot(): ServerStatus["calls"] };
  /** What a gateway tells of the server. Absent if it runs in this process. */
  readonly told?: ToldStatus;
  stderrTail(): string[];
  /**
   * Starts the server unless it runs; resolves when that attempt has ended, in whatever state. With `onlyToList`, the
   * server is stopped again if no call follows.
   */
  start(onlyToList?: boolean): Promise<void>;
  /** `start`, but resolves after the server's `timeout` at the latest, whatever it does. */
  attempt(onlyToList?: boolean): Promise<void>;
  /** A connection for a call, after a start that it triggers or joins. Rejects and says what happens next. */
  acquire(signal?: CallSignal): Promise<LiveServer>;
  /** Call it before and `leave` after each call, so that the server is not stopped as idle meanwhile. */
  enter(): void;
  leave(ms: number, failed: boolean): void;
  /** Lists the tools again, or makes one attempt to start the server if it is down. */
  refresh(): Promise<void>;
  restart(): Promise<void>;
  /** Replaces the settings that take no new start. */
  reconfigure(definition: ServerDefinition): void;
  /** Idempotent; resolves when nothing of the server is left in this process. */
  close(): Promise<void>;
}

/** What a gateway knows of a server, and a board that shares the server shows. */
export type ToldStatus = Pick<
  ServerStatus,
  | "transport"
  | "cached"
  | "cachedAt"
  | "restarts"
  | "lastError"
  | "identity"
  | "pid"
  | "calls"
  | "diagnostics"
  | "stderr"
>;

/** What a supervisor tells the board. */
export interface SupervisorListener {
  onState: (state: ServerState, previous: ServerState) => void;
  onTools: (list: ToolList, identity: ServerIdentity) => void;
  /** `board` is the board that the message is for; undefined for all of them. */
  onLog: (message: ServerLogMessage & { board?: object }) => void;
}

/** A server that a gateway runs. Its calls are guarded there, and nowhere else. */
export interface ServerInGateway {
  /** The tools as the gateway offers them, before rules; undefined if nobody knows them yet. */
  readonly tools: ToolList | undefined;
  /** The tools that are not as they were pinned; undefined if none of them is pinned. */
  readonly unpinned: readonly string[] | undefined;
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
  setLogLevel(board: object, level: ServerLogLevel | undefined): void;
  /** Traces the servers that are shared. */
  trace(listener: TraceListener, options: TraceOptions): EndTrace;
}

/** A server of a gateway's board, as the gateway tells others of it. */
export interface BoardServer {
  name: string;
  /** Those that rules hide included. Undefined if nobody knows them yet; the same array until they change. */
  tools: readonly { tool: ToolDefinition }[] | undefined;
  unpinned: readonly string[] | undefined;
  /** Known while the server is up. */
  has: ServerContent["has"] | undefined;
}

/** What a gateway needs of a board to share its servers one by one. */
export interface BoardServers {
  list(): BoardServer[];
  start(name: string, onlyToList: boolean): Promise<void>;
  /** Resolves when the server can take a call, and rejects as a call would. */
  acquire(name: string, signal: AbortSignal): Promise<void>;
  refresh(name: string): Promise<void>;
  /** The host's own tools, those of configured modules among them. */
  native(): NativeTool[];
}
