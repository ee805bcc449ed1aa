// The board of one agent and the board of one session, as their users see them.

import type { SessionOptions } from "./board-options.ts";
import type { BoardEvents } from "./events.ts";
import type { JsonObject } from "./json.ts";
import type { BoardPrompts } from "./prompt.ts";
import type { RequestHandlers } from "./request-handlers.ts";
import type { BoardResources } from "./resource.ts";
import type { ServerConfig } from "./server-config.ts";
import type { ServerStatus } from "./server-status.ts";
import type { CallOutcome, Tool, UpdateListener } from "./tool.ts";

/**
 * `onElicitation` and `onSampling` go before the board's own for what this call causes, where that is
 * certain; what is offered to servers is decided by the board's.
 */
export interface BoardCallOptions extends RequestHandlers {
  /**
   * Your own id for the call, made up where you give none. Native tools get it as their first argument;
   * approval requests and the questions a server asks because of the call carry it.
   */
  callId?: string;
  signal?: AbortSignal;
  onUpdate?: UpdateListener;
}

export interface BoardBase extends AsyncDisposable {
  readonly resources: BoardResources;
  readonly prompts: BoardPrompts;
  /**
   * Native tools first, then every server's in the order of the configuration; a session's own servers
   * come last.
   */
  tools(): Tool[];
  /**
   * The tool of that name: its public name, `server/tool`, or the tool's own name where only one has it.
   * Servers whose tools are not known yet are started and waited for. A tool that the rules hide is found as
   * well; its call is refused. Rejects with UNKNOWN_TOOL and the nearest names, with SERVER_UNAVAILABLE where
   * a server that cannot be asked may have it, or with CANCELLED.
   */
  find(name: string, options?: { signal?: AbortSignal }): Promise<Tool>;
  /** Calls by public name, or by `server/tool`. Never rejects: failures are outcomes with `isError`. */
  call(name: string, args?: JsonObject, options?: BoardCallOptions): Promise<CallOutcome>;
  status(): ServerStatus[];
  on<Name extends keyof BoardEvents>(
    event: Name,
    listener: (event: BoardEvents[Name]) => void,
  ): () => void;
}

export interface Board extends BoardBase {
  /** Stops and starts one server; resolves when it is ready or has failed. */
  restart(server: string): Promise<ServerStatus>;
  /** Signs in to a remote server, through `onAuthorization`, and starts it with what was granted. */
  signIn(server: string): Promise<ServerStatus>;
  /** Gives back and forgets its tokens. Resolves to whether there were any, and who was told. */
  signOut(server: string): Promise<"none" | "forgotten" | "revoked">;
  /** Asks every server for its tools again, starting those that are down; resolves when all have answered. */
  refresh(): Promise<ServerStatus[]>;
  /** Other directories, or `file:` URLs, as roots from now on; servers are told. */
  setRoots(roots: readonly string[]): void;
  /**
   * Lays a board of its own over this one for one session. Resolves when the session's servers are ready,
   * have failed or `startupWait` has passed; a bad server never rejects it, a bad option does, with
   * CONFIG_INVALID or INVALID_ARGUMENTS and before anything has started.
   */
  openSession(options: SessionOptions): Promise<SessionBoard>;
  /** Ends its sessions too. Idempotent; resolves when no process of the board's is left. */
  close(): Promise<void>;
}

export interface SessionBoard extends BoardBase {
  readonly id: string;
  readonly cwd: string;
  /** What was left out or takes the place of something else, as it is now: one sentence each. */
  readonly notices: readonly string[];
  /**
   * Stops and starts a server of the session's own. One that is shared is started where it is down; while it
   * runs it is not the session's to restart.
   */
  restart(server: string): Promise<ServerStatus>;
  /**
   * Whether this session uses the server. A disabled one has no tools here: it is stopped if it is the
   * session's own, and goes on for others if it is shared. Rejects with UNSUPPORTED for one that the
   * configuration disables.
   */
  setEnabled(server: string, enabled: boolean): Promise<ServerStatus>;
  /**
   * Starts the session's own servers that were stopped for being idle, without waiting for them, and tries
   * every server again that somebody has signed in to since it was refused. Resolves when these have been
   * tried; does not reject.
   */
  wake(): Promise<void>;
  /**
   * Plugs in another server; resolves when it is ready, has failed or `startupWait` has passed. Rejects
   * with CONFIG_INVALID or INVALID_ARGUMENTS, and then nothing has started.
   */
  add(name: string, config: ServerConfig): Promise<ServerStatus>;
  /** Resolves when nothing of the server is left. An agent's server whose place it took is back. */
  remove(name: string): Promise<void>;
  /** Idempotent; resolves when no process of the session's own is left. */
  close(): Promise<void>;
}
