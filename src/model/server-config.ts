// What a caller may write for one server, as a plain object. The same keys are read from files.

import type { OAuthSettings } from "./authorization.ts";
import type { ApprovalMode, FramingMode, PerTool, PinMode, ToolRules } from "./guard-settings.ts";
import type { Include, IncludeMode } from "./include.ts";
import type { SamplingMode } from "./sampling.ts";
import type { ProtocolChoice } from "./server-definition.ts";

export type Transport = "stdio" | "http" | "sse";

export type ServerAuth =
  | { type: "bearer"; token: string }
  /** `header` is `X-API-Key` where it is not given. */
  | { type: "api-key"; key: string; header?: string };

/** PEM files. */
interface TlsFiles {
  ca?: string;
  cert?: string;
  key?: string;
}

/**
 * One MCP server. Give `command` for a program on this machine or `url` for a remote server; every other
 * key is optional. Values of `command`, `args`, `env`, `cwd`, `url` and `headers` may contain `${VAR}`
 * and `${VAR:-default}`, which are expanded each time the server starts.
 */
export interface ServerConfig {
  /** `false` keeps the definition and never starts the server. */
  enabled?: boolean;
  /** Follows from `command` or `url` where it is not given. */
  transport?: Transport | "streamable-http";
  /** Another name for `transport`. */
  type?: Transport | "streamable-http";
  /** The program, started without a shell. */
  command?: string;
  args?: string[];
  /** Variables for the program, beside a small baseline such as PATH and HOME. */
  env?: Record<string, string>;
  /** Relative to the configuration file's directory; `~/` is the home directory. */
  cwd?: string;
  /** Another name for `cwd`. */
  workingDir?: string;
  url?: string;
  headers?: Record<string, string>;
  auth?: ServerAuth;
  /** Signing in. By default a server that asks for it is signed in to; `false` never. */
  oauth?: boolean | OAuthSettings;
  tls?: TlsFiles;
  /** Allows plain `http:` to hosts other than this machine. */
  allowInsecure?: boolean;
  /** Allows addresses of private networks. */
  allowPrivate?: boolean;
  /** Milliseconds a start may take. Default 30000. */
  timeout?: number;
  /** Milliseconds a call may take without progress. Default 60000. */
  toolTimeout?: number;
  /** Default true. */
  restartOnCrash?: boolean;
  /** Failures in a row to become ready after which the server counts as failed. Default 5. */
  maxRestarts?: number;
  /** Starts the server on its first use. Default false. */
  lazy?: boolean;
  /** Milliseconds without a call after which the server is stopped; 0, the default, never. */
  idleTimeout?: number;
  /** Whether all sessions of an agent share one, or each has its own. Default "shared". */
  scope?: "shared" | "session";
  /** Which revisions of MCP to speak. Default "auto". */
  protocol?: ProtocolChoice;
  /** Stands for the server's name in tool names. */
  toolPrefix?: string;
  /** Which of its tools a model is offered; `manual` ones are called by name alone. Default "always". */
  include?: IncludeMode | Include;
  /** Which of its tools may be called, by patterns such as `read_*`. */
  tools?: ToolRules;
  /** Ask before a call. Default: the board's. */
  approval?: ApprovalMode | PerTool<ApprovalMode>;
  /** What to do when a tool is not what it was. Default: the board's. */
  pins?: PinMode;
  /** What the server says of its tools, such as that one only reads, is believed. Default false. */
  trusted?: boolean;
  /** How results are marked as foreign for a model. Default: the board's. */
  framing?: FramingMode;
  /** `false` offers none of its resources. Default true. */
  resources?: boolean;
  /** Which resources, by patterns of URIs such as `file:///docs/*`. Default: all. */
  resourceFilter?: string[];
  /** Milliseconds after which a list or a text in a prompt is asked for again. Default 300000. */
  resourceRefreshMs?: number;
  /** Whether the server may use the host's model, through `onSampling`. Default "deny". */
  sampling?: SamplingMode;
  /** Calls a minute, or `false` for no limit; a tool's own counts beside the server's. */
  rateLimit?: number | false | PerTool<number | false>;
  /** Calls at the same time; more wait. A tool's own counts beside the server's. */
  concurrency?: number | PerTool<number>;
  /** How much of a result's text a model gets. */
  maxResultBytes?: number;
  /** The largest message taken from the server. Default 64 MiB. */
  maxMessageBytes?: number;
}

/** What holds for every server that a session brings, where it does not say otherwise. */
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
>;
