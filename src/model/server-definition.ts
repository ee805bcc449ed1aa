// One MCP server as configured: checked, merged and with every default filled in, but with `${VAR}` and
// `secret://` still in place. They are resolved when the server starts.

import type { OAuthSettings } from "./authorization.ts";
import type { ServerGuard } from "./guard-settings.ts";
import type { Include } from "./include.ts";
import type { SamplingMode } from "./sampling.ts";

export type ServerScope = "defaults" | "agent" | "session";

export type ProtocolChoice = "auto" | "legacy" | "2026-07-28";

export interface StdioEndpoint {
  kind: "stdio";
  command: string;
  args: string[];
  env: Record<string, string>;
  cwd?: string;
  /** What a `cwd` that turns out relative is relative to: the directory of the configuration file. */
  baseDir?: string;
}

export interface RemoteEndpoint {
  kind: "http" | "sse" | "remote";
  url: string;
  headers: Record<string, string>;
  /** Plain http beyond this machine. */
  allowInsecure: boolean;
  /** Addresses in private networks. */
  allowPrivate: boolean;
  /** How to sign in where the server asks for it; `false` never. */
  oauth?: OAuthSettings | false;
  /** Paths of PEM files. */
  tls?: { ca?: string; cert?: string; key?: string };
  /** What relative paths in `tls` are relative to. */
  baseDir?: string;
}

export type Endpoint = StdioEndpoint | RemoteEndpoint;

export interface ResourceSettings {
  enabled: boolean;
  /** Patterns of URIs with `*` for any text; none are all. */
  filter: string[];
  /** Milliseconds after which a list or a text in a prompt is asked for again. */
  refreshMs: number;
}

export interface ServerDefinition {
  name: string;
  /** The layer of configuration it came from. */
  origin: ServerScope;
  enabled: boolean;
  endpoint: Endpoint;
  /** Milliseconds a start may take. */
  timeout: number;
  /** Milliseconds a call may take without progress. */
  toolTimeout: number;
  restartOnCrash: boolean;
  /** Failures in a row to become ready that end in `failed`. */
  maxRestarts: number;
  lazy: boolean;
  /** Milliseconds without a call after which the server is stopped; 0 never. */
  idleTimeout: number;
  protocol: ProtocolChoice;
  /** Each session has its own; absent where one is shared by all. */
  scope?: "session";
  /** Stands for the server in public tool names. */
  toolPrefix?: string;
  /** Which of its tools a model is offered; absent are all. */
  include?: Include;
  maxMessageBytes: number;
  /** Absent where nothing is configured for its resources: then all are offered. */
  resources?: ResourceSettings;
  /** Whether it may use the host's model; absent is `deny`. */
  sampling?: Exclude<SamplingMode, "deny">;
  /** Absent where nothing is configured for the guard. */
  guard?: ServerGuard;
  /** Of a session's server: the configured server of the same name and URL, whose stored login it uses. */
  matchingServer?: ServerDefinition;
}
