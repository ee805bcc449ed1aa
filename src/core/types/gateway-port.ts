// The port between a board and a gateway that runs some of its servers, and what a gateway tells of a server.

import type { SessionOptions } from "./board-options.ts";
import type { RedactorElsewhere } from "./redactor.ts";
import type { ServerContent } from "./server-content.ts";
import type { ServerDefinition } from "./server-definition.ts";
import type { ServerLogLevel } from "./server-log.ts";
import type { ServerStatus } from "./server-status.ts";
import type { LiveServer, ServerSupervisor, SupervisorListener } from "./supervisor.ts";
import type { NativeTool, ToolDefinition } from "./tool.ts";
import type { EndTrace, TraceListener, TraceOptions } from "./trace.ts";

/** What a gateway tells of a server that it runs. The calls of that server are guarded there, and nowhere else. */
export interface ToldServer {
  name: string;
  /** What a board that shares the server shows. */
  status: Pick<
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
  /** Those that rules hide included. Undefined if nobody knows them yet. */
  tools?: ToolDefinition[] | undefined;
  /** The tools that are not as they were pinned; undefined if none of them is pinned. */
  unpinned: readonly string[] | undefined;
  /** When it was pinned, in milliseconds since the epoch. */
  pinnedAt: number | undefined;
  /** Known while the server is up. */
  has: ServerContent["has"] | undefined;
}

/** A server that a gateway runs, and what speaks for the gateway's supervisor. */
interface ServerInGateway {
  readonly told: ToldServer;
  supervise(definition: ServerDefinition, listener: SupervisorListener): ServerSupervisor;
}

/** A native tool that runs in a gateway. Its calls go there like those of a server. */
export interface NativeToolInGateway extends NativeTool {
  /** Undefined while there is no gateway. */
  direct: () => Pick<LiveServer, "callTool"> | undefined;
}

/** What a gateway takes of the options of a session: a command brings neither servers nor limits of its own. */
export const OPTIONS_IN_GATEWAY = [
  ...(["cwd", "id", "owner", "approval", "tools", "toolNames", "rateLimit"] as const),
  ...(["toolTimeout", "defaultToolTimeout"] as const),
  ...(["onApproval", "onElicitation", "onSampling"] as const),
] as const satisfies readonly (keyof SessionOptions)[];

/** What a gateway needs to know of a board that uses its servers, or of a session of that board. */
export interface BoardInGateway extends Pick<SessionOptions, (typeof OPTIONS_IN_GATEWAY)[number]> {
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
