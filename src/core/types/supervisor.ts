// The port between a board and what runs one of its servers: a supervisor in this process, or a gateway's.

import type { CallSignal } from "../../util/abort.ts";
import type { Connection, ServerIdentity, ToolList } from "./connection.ts";
import type { PlugboardError } from "./errors.ts";
import type { ToldServer } from "./gateway-port.ts";
import type { ServerDefinition } from "./server-definition.ts";
import type { ServerLogMessage } from "./server-log.ts";
import type { ServerState } from "./server-state.ts";
import type { ServerStatus } from "./server-status.ts";

/** What a board asks of a server while it is up. What only whoever runs it hears is absent elsewhere. */
export type LiveServer = Pick<Connection, "identity" | "content" | "callTool"> &
  Partial<Pick<Connection, "onToolsChanged">>;

/** What is told of a server's calls. Where a gateway runs it, the gateway counts. */
export interface CallCounter {
  /** A call of one of its tools has ended. */
  ended?(call: { durationMs: number; waitedMs: number; isError: boolean }): void;
  snapshot(): ServerStatus["calls"];
}

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
  readonly stats: CallCounter;
  /** What a gateway tells of the server. Absent if it runs in this process. */
  readonly told?: ToldServer;
  stderrTail(): string[];
  /** What the server said was missing when it started, although it runs. */
  missing?(): string | undefined;
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
  leave(): void;
  /** Lists the tools again, or makes one attempt to start the server if it is down. */
  refresh(): Promise<void>;
  restart(): Promise<void>;
  /** Until `restart` starts it again: nothing else does. */
  stop(): Promise<void>;
  /** Until somebody needs it. False, and nothing happens, while a call is under way. */
  rest?(): boolean;
  /** Replaces the settings that take no new start. */
  reconfigure(definition: ServerDefinition): void;
  /** Idempotent; resolves when nothing of the server is left in this process. */
  close(): Promise<void>;
}

/** What a supervisor tells the board. */
export interface SupervisorListener {
  onState: (state: ServerState, previous: ServerState) => void;
  onTools: (list: ToolList, identity: ServerIdentity) => void;
  /** `board` is the board that the message is for; undefined for all of them. */
  onLog: (message: ServerLogMessage & { board?: object }) => void;
}
