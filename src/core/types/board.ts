// The board of one agent and the board of one session, as you use them.

import type { AgentConfig, BoardConfig } from "./agent-config.ts";
import type { SignInRequest, SignOutOutcome } from "./authorization.ts";
import type { SessionOptions } from "./board-options.ts";
import type { CallerOptions } from "./caller-options.ts";
import type { BoardEvents, CallWatcher } from "./events.ts";
import type { UnmatchedRule } from "./guard-settings.ts";
import type { ToolSearchSetting } from "./include.ts";
import type { BoardPrompts } from "./prompt.ts";
import type { BoardRedactor } from "./redactor.ts";
import type { BoardResources } from "./resource.ts";
import type { ToolSearch } from "./search.ts";
import type { SecretReview } from "./secret-use.ts";
import type { ServerConfig } from "./server-config.ts";
import type { ServerLogLevel } from "./server-log.ts";
import type { ServerStatus } from "./server-status.ts";
import type { JudgedTool, Tool, UpdateListener } from "./tool.ts";
import type { CallTool } from "./tool-types.ts";
import type { EndTrace, TraceListener, TraceOptions } from "./trace.ts";

export interface BoardCallOptions extends CallerOptions {
  /** Called with the progress of the call. */
  onUpdate?: UpdateListener;
  /**
   * Puts what a server wrote between markers, if the configuration asks for `framing` itself. There is no structured
   * content then, since a model could not tell it from instructions.
   */
  framed?: boolean;
}

/** What a server says about how to use it. Written by the server: a model should not take it for yours. */
export interface ServerInstructions {
  server: string;
  text: string;
}

/** What `reload` did with each server, by name. */
export interface ReloadReport {
  added: string[];
  /** Servers that were started again, because their command or their address changed. */
  changed: string[];
  removed: string[];
  /** They keep their process and their connection. Their other settings may have changed. */
  unchanged: string[];
}

/** One report about several boards, or several parts of one. */
export function joinReports(reports: readonly ReloadReport[]): ReloadReport {
  const all = (kind: keyof ReloadReport): string[] => reports.flatMap((report) => report[kind]);
  return {
    added: all("added"),
    changed: all("changed"),
    removed: all("removed"),
    unchanged: all("unchanged"),
  };
}

/** What an agent's board and a session's board have in common. */
export interface BoardBase extends AsyncDisposable, ToolSearch {
  /**
   * Takes the secrets of the servers out of what you show or keep yourself: a person may have typed one, and a model may
   * have repeated it.
   */
  readonly redactor: BoardRedactor;
  readonly resources: BoardResources;
  readonly prompts: BoardPrompts;
  /**
   * Native tools first, then those of each server in the order of the configuration, then those of the
   * session's own servers. Leaves out tools that servers keep for their own apps (MCP Apps), since no model may
   * get them; `all` includes them, with `include: "app"`. `include` says how a model gets each.
   */
  tools(options?: { all?: boolean }): Tool[];
  /** Whether models search for tools, as it is configured. */
  readonly toolSearch: ToolSearchSetting;
  /**
   * Puts a tool into the prompts of models, whatever its mode is, for as long as this board is open. Takes a tool, its
   * public name, `server/tool`, or its own name if no other tool has it. Other boards and sessions see none of it.
   * Throws UNKNOWN_TOOL, or UNSUPPORTED for a tool that a server keeps for its app.
   */
  include(tool: string | Pick<Tool, "name" | "source">): Tool;
  /** The opposite: models neither see nor find the tool, as if it were `manual`. */
  exclude(tool: string | Pick<Tool, "name" | "source">): Tool;
  /**
   * Finds a tool by its public name, by `server/tool`, or by its own name if no other known tool has it. If no
   * known tool has the name, starts and waits for servers whose tools are not known yet. Also finds tools that the
   * rules hide; calling one is refused. Rejects with UNKNOWN_TOOL or UNKNOWN_SERVER and the closest names, with
   * SERVER_UNAVAILABLE if a server that is down may have the tool, or with CANCELLED.
   */
  find(name: string, options?: { signal?: AbortSignal }): Promise<Tool>;
  /** Calls a tool by its public name or by `server/tool`. Never rejects: a failure has `isError` set. */
  call: CallTool;
  status(): ServerStatus[];
  /**
   * How to use the servers, in their own words, of this run or of an earlier one: at most 64 Ki characters each, without
   * secrets and invisible characters. Leaves out words that have changed since they were pinned, if the pins block that.
   */
  instructions(): ServerInstructions[];
  /**
   * Tells the servers the lowest level of log messages that you want as the event "log", in addition to what
   * `serverLogLevel` asks for. Shared servers send what any session wants. Without a level, you want none.
   */
  setLogLevel(level: ServerLogLevel | undefined): void;
  /** Returns a function that removes the listener. */
  on<Name extends keyof BoardEvents>(
    event: Name,
    listener: (event: BoardEvents[Name]) => void,
  ): () => void;
  /** Shows calls to a watcher, in the place of an earlier one. Returns a function that ends it. */
  watchCalls(watcher: CallWatcher): () => void;
}

export interface Board extends BoardBase {
  /** The references to secrets in the configuration: who uses them, and whether they work. Never a value. */
  readonly secrets: SecretReview;
  /** Stops and starts a server. Resolves when it is ready or has failed. */
  restart(server: string): Promise<ServerStatus>;
  /** Stops a server until `restart` starts it again: calls do not. Resolves when nothing of it is left. */
  stop(server: string): Promise<ServerStatus>;
  /**
   * Signs in to a remote server through `onAuthorization`, that of the request or of the board, then restarts it with
   * the new login.
   */
  signIn(server: string, request?: SignInRequest): Promise<ServerStatus>;
  /**
   * Deletes the server's stored tokens, and revokes them if the authorization server answers.
   */
  signOut(server: string): Promise<SignOutOutcome>;
  /**
   * Rules that match no tool of their servers, and rules of `allow` that allow nothing because they could mean two
   * tools. A rule is left out until the tools of its servers are known.
   */
  unmatchedRules(): UnmatchedRule[];
  /** All known tools, also those that the rules refuse, each with what the rules say about a call of it. */
  judged(): JudgedTool[];
  /** Asks every server for its tools again and starts those that are down. Resolves when all have answered. */
  refresh(): Promise<ServerStatus[]>;
  /**
   * Replaces the roots with other directories or `file:` URLs, and tells the servers. Servers whose configuration
   * lists directories, or has `roots: false`, keep what they have.
   */
  setRoots(roots: readonly string[]): void;
  /**
   * Replaces the configuration while the board runs, also for its open sessions. Servers whose definition is the
   * same keep their process and their connection; others are started again, added or stopped. Rules, approval, limits,
   * names and all other settings apply from the next call on. Resolves when the servers that it has started are ready,
   * have failed, or `startupWait` has passed. Rejects with CONFIG_INVALID; then nothing has changed. Calls of `reload`
   * run one after another.
   */
  reload(config: BoardConfig | AgentConfig): Promise<ReloadReport>;
  /**
   * Opens a board for one session on top of this one. Resolves when the session's servers are ready, have
   * failed, or `startupWait` has passed. A server that fails does not reject it. Invalid options do, with
   * CONFIG_INVALID or INVALID_ARGUMENTS, before anything starts.
   */
  openSession(options: SessionOptions): Promise<SessionBoard>;
  /**
   * Calls `listener` with every message between the board and its servers, with what they write to stderr and with their
   * states, from now on; also those of servers that sessions have of their own. Credentials are removed. What comes
   * faster than it is taken is left out and counted, so that no call waits for it. Throws UNKNOWN_SERVER.
   */
  trace(listener: TraceListener, options?: TraceOptions): EndTrace;
  /** Also closes the sessions. Idempotent; resolves when no process of the board is left. */
  close(): Promise<void>;
}

/** A board for one session on top of an agent's board. Adds or replaces servers; other sessions see none of it. */
export interface SessionBoard extends BoardBase {
  readonly id: string;
  readonly cwd: string;
  /** What was left out of the session and what it replaces, one sentence each. Changes with the servers. */
  readonly notices: readonly string[];
  /**
   * Stops and starts a server of this session. A shared server is only started if it is down: while it runs,
   * other sessions use it, so this rejects with UNSUPPORTED.
   */
  restart(server: string): Promise<ServerStatus>;
  /**
   * Enables or disables a server for this session. A disabled server has no tools here; it is stopped if it
   * belongs to this session, and keeps running for others if it is shared. Rejects with UNSUPPORTED if the
   * configuration disables the server.
   */
  setEnabled(server: string, enabled: boolean): Promise<ServerStatus>;
  /**
   * Starts this session's servers that were stopped for being idle, without waiting for them. Tries servers
   * again that needed a sign-in and that you have signed in to since, and resolves when those attempts have
   * ended. Does not reject.
   */
  wake(): Promise<void>;
  /**
   * Adds a server. Resolves when it is ready, has failed, or `startupWait` has passed. Rejects with
   * CONFIG_INVALID or INVALID_ARGUMENTS; then nothing has started.
   */
  add(name: string, config: ServerConfig): Promise<ServerStatus>;
  /** Resolves when no process of the server is left. If it had replaced a server of the agent, that is back. */
  remove(name: string): Promise<void>;
  /** Like that of the agent's board, for the session's own servers. Shared servers keep the agent's roots. */
  setRoots(roots: readonly string[]): void;
  /** Idempotent; resolves when no process of this session is left. */
  close(): Promise<void>;
}
