// The configuration of one server, as you write it in code or in a file.

import type { OAuthSettings } from "./authorization.ts";
import type { ApprovalMode, FramingMode, PerTool, PinMode, ToolRules } from "./guard-settings.ts";
import type { Include, IncludeMode } from "./include.ts";
import type { SamplingMode } from "./sampling.ts";
import type { ProtocolChoice } from "./server-definition.ts";
import type { Provenance } from "./server-offer.ts";

export type ServerTransport = "stdio" | "http" | "sse";

export type ServerAuth =
  | { type: "bearer"; token: string }
  /** Default of `header`: `X-API-Key`. */
  | { type: "api-key"; key: string; header?: string };

/** Paths of PEM files. */
export interface TlsFiles {
  /** Default: the authorities that Node trusts. */
  ca?: string;
  cert?: string;
  key?: string;
}

/** The one gateway that runs a server for all others. */
export interface WorkerConfig {
  /** With `/mcp`. */
  url: string;
  token: string;
  /** Allows plain `http:` to hosts other than this machine. */
  allowInsecure?: boolean;
  tls?: TlsFiles;
}

/**
 * One MCP server. Give `command` for a program on this machine or `url` for a remote server; every other
 * key is optional. Values of `command`, `args`, `env`, `cwd`, `url` and `headers` may contain `${VAR}`
 * and `${VAR:-default}`, which are expanded each time the server starts.
 */
export interface ServerConfig {
  /** `false` keeps the configuration but never starts the server. Default true. */
  enabled?: boolean;
  /** Default: found out from `command` or `url`. */
  transport?: ServerTransport | "streamable-http";
  /** Another name for `transport`. */
  type?: ServerTransport | "streamable-http";
  /** The program to start, without its arguments, which belong in `args`. `~/` is the home directory. */
  command?: string;
  /** `~/` at the beginning of an argument is the home directory. */
  args?: string[];
  /** Variables for the program, in addition to a few basic ones such as PATH and HOME. */
  env?: Record<string, string>;
  /** Relative to the configuration file's directory; `~/` is the home directory. */
  cwd?: string;
  /** Another name for `cwd`. */
  workingDir?: string;
  url?: string;
  headers?: Record<string, string>;
  auth?: ServerAuth;
  /** How to sign in if the server asks for it; `false` never signs in. Default true. */
  oauth?: boolean | OAuthSettings;
  tls?: TlsFiles;
  /** Allows plain `http:` to hosts other than this machine. */
  allowInsecure?: boolean;
  /** Allows addresses in private networks. */
  allowPrivate?: boolean;
  /** For several gateways: each has a process of the program. */
  replicas?: "each";
  /** For several gateways: only `plugboard up --only` runs the program, and everybody else reaches it there. */
  worker?: WorkerConfig;
  /** Milliseconds a start may take. Default 30000. */
  timeout?: number;
  /** Milliseconds a call may take without progress. Default 60000. */
  toolTimeout?: number;
  /** Restarts the server when it crashes. Default true. */
  restartOnCrash?: boolean;
  /** How often in a row the server is started again after a crash or a failed start; 0 is never. Default 5. */
  maxRestarts?: number;
  /** Starts the server on its first use. Default false. */
  lazy?: boolean;
  /** Stops the server after this many milliseconds without a call. Default 0: never. */
  idleTimeout?: number;
  /**
   * For the command line: `plugboard call` and the like start a gateway in the background that keeps the server
   * running between commands. No effect on `openBoard`. Default: the agent's setting, else false.
   */
  keepAlive?: boolean;
  /** Whether all sessions of an agent share one server, or each session starts its own. Default "shared". */
  scope?: "shared" | "session";
  /** Which revisions of MCP to speak. Default "auto". */
  protocol?: ProtocolChoice;
  /** Replaces the server's name in public tool names. */
  toolPrefix?: string;
  /** Which tools are shown to the model; `manual` ones can only be called by name. Default "always". */
  include?: IncludeMode | Include;
  /** Which tools may be called, by patterns such as `read_*`. */
  tools?: ToolRules;
  /** Which calls need approval. Default: the board's setting. */
  approval?: ApprovalMode | PerTool<ApprovalMode>;
  /** What happens when the definition of a tool has changed. Default: the board's setting. */
  pins?: PinMode;
  /** Believes what the server says about its tools, such as that one only reads. Default false. */
  trusted?: boolean;
  /** How results are marked as untrusted for a model. Default: the board's setting. */
  framing?: FramingMode;
  /**
   * `"context"` or `true`, the default: their text goes into prompts, as far as there is room. `"list"`: only
   * their names do. `false` hides them.
   */
  resources?: boolean | "context" | "list";
  /** Which resources can be read: patterns for URIs such as `file:///docs/*`, or parts of them. Default: all. */
  resourceFilter?: string[];
  /** Milliseconds after which resource lists, and resources in prompts, are read again. Default 300000. */
  resourceRefreshMs?: number;
  /**
   * The directories that the server gets as roots: `true` is the working directory, `false` none. Default: as set
   * for the agent, else none. Some servers let roots replace the directories in their arguments.
   */
  roots?: boolean | string[];
  /** Whether the server may use your model, through `onSampling`. Default "deny". */
  sampling?: SamplingMode;
  /** Calls per minute, or `false` for no limit. A tool's own limit applies in addition to the server's. */
  rateLimit?: number | false | PerTool<number | false>;
  /** Calls at the same time; others wait. A tool's own limit applies in addition to the server's. */
  concurrency?: number | PerTool<number>;
  /** How many bytes of a result's text the model gets. */
  maxResultBytes?: number;
  /** The largest message that is accepted from the server. Default 64 MiB. */
  maxMessageBytes?: number;
  /** Where the entry came from, as `plugboard add` writes it. It has no effect on the server. */
  provenance?: Provenance;
}

/** Default settings of servers that a session brings. */
export type SessionDefaults = Omit<
  ServerConfig,
  | "transport"
  | "type"
  | "command"
  | "args"
  | "env"
  | "cwd"
  | "workingDir"
  | "url"
  | "headers"
  | "auth"
  | "oauth"
  | "tls"
  | "allowInsecure"
  | "allowPrivate"
  | "replicas"
  | "worker"
  | "provenance"
>;

/** A server that runs in the ACP client which opens the session, such as an editor. Only a session can have one. */
export interface AcpServerConfig extends SessionDefaults {
  transport: "acp";
  /** The client's id of the server. */
  serverId: string;
}

/** One server of a session. */
export type SessionServerConfig = ServerConfig | AcpServerConfig;

/** A text as a configuration has it, where `${` would begin a reference. */
export function escaped(text: string): string {
  // A function, since `$$` in a replacement stands for one `$`.
  return text.replaceAll("${", () => "$${");
}
