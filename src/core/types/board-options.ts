// What you pass to `openBoard` and `board.openSession`.

import type { Clock } from "../../util/clock.ts";
import type { AskApproval } from "./approval.ts";
import type { OnAuthorization, SubjectToken } from "./authorization.ts";
import type { ApprovalMode, FramingMode } from "./guard-settings.ts";
import type { Logger, LogLevel } from "./logger.ts";
import type { SendMcpMessage } from "./mcp-message.ts";
import type { RequestHandlers } from "./request-handlers.ts";
import type { Embed } from "./search.ts";
import type { SecretProvider } from "./secret-provider.ts";
import type { SessionServerConfig } from "./server-config.ts";
import type { BoardState } from "./shared-state.ts";
import type { NativeTool, NativeToolFactory, Tool } from "./tool.ts";

/**
 * `onElicitation` and `onSampling` also decide which capabilities the board advertises to servers: without the
 * handler the capability is not advertised, and a server that uses it anyway gets an error.
 */
export interface BoardOptions extends RequestHandlers {
  /** Your own tools, listed before those of the servers. */
  native?: readonly (NativeTool | NativeToolFactory)[];
  /** The working directory of servers that have no `cwd`. */
  workspaceDir?: string;
  /**
   * Where the board keeps tool lists, pins, approvals, tokens, its audit log and results too long for a model.
   * Without it these are not written to disk.
   */
  stateDir?: string;
  /**
   * Where the board keeps pins, approvals, tokens and its audit log, instead of files in `stateDir`. The gateway's
   * boards share theirs.
   */
  state?: BoardState;
  /**
   * Which servers start with the board. `eager`, the default: all but the lazy ones, and lazy ones whose tools
   * are not cached. `unknown`: only servers whose tools are not cached, or were cached more than a day ago.
   * `stale`, to show them: of `unknown` those that were not listed with other capabilities either, and those that
   * were not ready when they were started last.
   * `none`: none, each starts with its first call.
   */
  start?: "eager" | "unknown" | "stale" | "none";
  /**
   * Servers that could not be started in the last five minutes, by any process with the same `stateDir`, are not
   * started to learn what they have. A call, or anything else that names such a server, tries it. Default false.
   */
  skipFailed?: boolean;
  /**
   * Called when a person needs to sign in to a server. Without it the server's state becomes `needs-auth`, with
   * the command to run.
   */
  onAuthorization?: OnAuthorization;
  /**
   * How your users start a server again whose restarts are used up; calls of the server are answered with it. Default: a
   * call of `board.restart`.
   */
  restartHint?: (server: string) => string;
  /** Called before a call that needs approval. Without it such calls are refused. */
  onApproval?: AskApproval;
  /**
   * Servers of `scope: "session"` run in sessions only: the board itself has none of their tools and never starts
   * them. Default false: without a session, they are servers like any other.
   */
  onlyInSessions?: boolean;
  /** Whether the caller is the owner, who may use tools marked `ownerOnly`. Default false. */
  owner?: boolean;
  /**
   * Gives the model tools to find and read resources by itself. `"auto"`: as configured, else once a server has
   * resources. Default: as configured, else not.
   */
  resourceTools?: boolean | "auto";
  /**
   * The directories or `file:` URLs that servers get as roots, unless their configuration has a setting of its own:
   * `true` is the working directory. Default: as configured, else none. Some servers let roots replace the
   * directories in their arguments.
   */
  roots?: boolean | readonly string[];
  /** Milliseconds that a call may take without progress, for servers whose configuration does not say. Default 60 000. */
  defaultToolTimeout?: number;
  /**
   * Whether your users see the apps of servers (MCP Apps). Servers are told, and some list other tools then. Default
   * false.
   */
  showsApps?: boolean;
  /**
   * Turns texts into vectors, with a provider of yours. `search` ranks by meaning then, in addition to words. If it fails
   * or takes too long, `search` goes by words alone.
   */
  embed?: Embed;
  /** The lowest level at which servers are asked to send log messages. Default `warn`. */
  serverLogLevel?: LogLevel;
  /** Called with the whole list whenever it changes. */
  onToolsChanged?: (tools: Tool[]) => void;
  /** Aborting it closes the board. */
  signal?: AbortSignal;
  /** Without one the library logs nothing. */
  logger?: Logger;
  /**
   * Providers of secrets of your own, for references such as `secret://name/path`. They win over the built-in ones of the
   * same name. The board closes them.
   */
  secretProviders?: readonly SecretProvider[];
  /** Supplies `${VAR}` and the basic environment of servers. Default: `process.env`. */
  env?: Readonly<Record<string, string | undefined>>;
  /**
   * The PATH to start servers with, instead of the one in `env`. Only servers that are programs wait for it.
   * Must not reject.
   */
  programPath?: Promise<string | undefined>;
  /** Replaces the system clock, for tests. */
  clock?: Clock;
  /** Replaces `Math.random`, for tests. */
  random?: () => number;
}

/** Each tool must pass these rules and those of the configuration; of two approval modes the stricter one holds. */
export interface SessionRules {
  /** Patterns of the only tools that may be called, as in the rules of an agent. Default: all. */
  allow?: readonly string[];
  /** Patterns of tools that may not be called, even if `allow` matches. */
  deny?: readonly string[];
  approval?: ApprovalMode;
  /** What messages and the audit call these rules. Default "the session's tools". */
  place?: string;
}

export interface SessionPerson {
  /** Names the person among all, whatever they are called. */
  id: string;
  /** What they have to do to sign in to a server, for people: `open https://…`. */
  signInHint: (server: string) => string;
  /** The JWT with which they came last. Undefined if it has ended, or if they have come with none. */
  subjectToken?: () => SubjectToken | undefined;
}

/**
 * `onElicitation` and `onSampling` answer what servers ask because of the session's calls. A shared server only
 * uses the capabilities that the agent's board advertised to it.
 */
export interface SessionOptions extends RequestHandlers {
  /** Servers for this session only, by name. They replace servers of the agent that have the same name. */
  servers?: Readonly<Record<string, SessionServerConfig>>;
  /**
   * Carries the requests to servers that run in the ACP client: those with `transport: "acp"`. Without it the session
   * takes none.
   */
  sendMcpMessage?: SendMcpMessage;
  /** An absolute path: the working directory of the session's servers. */
  cwd: string;
  /** Further directories of the session, absolute. With `cwd` they are what `roots: true` stands for. */
  additionalDirectories?: readonly string[];
  /** Whether the agent's servers of `scope: "session"` run in this session. Default true. */
  perSession?: boolean;
  /**
   * Who the session is for, if not the agent's own user. Servers with `oauth.per: "user"` or
   * `oauth.grant: "token_exchange"` run in the session then, with the tokens of this person, and those of the board are not in it. `false`: several people share the session, and it has no
   * such servers.
   */
  person?: SessionPerson | false;
  /** Identifies the session in the audit log. Default: a random id. */
  id?: string;
  /**
   * Whether the audit and the log name the session. `false`: several callers share it, and the caller says whose a call is.
   * Default true.
   */
  isNamed?: boolean;
  /** Tools for this session only, in addition to the board's. */
  native?: readonly (NativeTool | NativeToolFactory)[];
  /** Called before a call that needs approval. Default: the board's. */
  onApproval?: AskApproval;
  /** Whether calls need approval, if the configuration does not say. Default "never". */
  approval?: ApprovalMode;
  /**
   * How results are marked in calls with `framed`, if the configuration does not say: for a program that gives them to a
   * model as they are. Default: not at all.
   */
  framing?: FramingMode;
  /** Rules on top of the configuration's. They can only take something away. */
  tools?: SessionRules;
  /**
   * Calls per minute to a server that has no setting of its own. Default: no limit. Limits of shared
   * servers hold for all sessions together, in addition.
   */
  rateLimit?: number | false;
  /** Whether the session's user is the owner. Default: as on the board. */
  owner?: boolean;
  /**
   * Whether a request for a tool, a resource or a prompt that the rules refuse is answered as if there were none, for a user
   * who must not learn of it. The audit has the refusal. Default false.
   */
  hidesRefused?: boolean;
  /**
   * The directories or `file:` URLs that the session's servers get as roots, unless their configuration has a
   * setting of its own: `true` is `cwd` and `additionalDirectories`. Default: as on the board.
   */
  roots?: boolean | readonly string[];
  /** Milliseconds to wait for the session's servers. Default 2000. */
  startupWait?: number;
  /** The template of public tool names in the session, and their most characters. Default: as on the board. */
  toolNames?: { template: string; length?: number };
  /** Like that of the board, for the session's calls. Default: as on the board. */
  defaultToolTimeout?: number;
  /** Milliseconds that a call may take without progress, whatever the configuration says. */
  toolTimeout?: number;
  /** Like that of the board. Default: as on the board. */
  resourceTools?: boolean | "auto";
  /** Which of the board's servers that have not been started yet start with the session. Default "none". */
  startShared?: BoardOptions["start"];
}
