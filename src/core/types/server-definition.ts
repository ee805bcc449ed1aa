// One MCP server as configured: checked, merged, and with its defaults filled in. `${VAR}` and `secret://` are
// still in it; they are resolved each time the server starts.

import type { OAuthSettings } from "./authorization.ts";
import type { ServerGuard } from "./guard-settings.ts";
import type { Include } from "./include.ts";
import type { RootsSetting } from "./roots.ts";
import type { SamplingMode } from "./sampling.ts";

/** The layer of the configuration that a server comes from, or the session that brought it. */
export type ServerScope = "defaults" | "agent" | "session";

/** Which revisions of MCP to speak; `legacy` is everything before 2026-07-28. */
export type ProtocolChoice = "auto" | "legacy" | "2026-07-28";

export interface StdioTarget {
  kind: "stdio";
  command: string;
  args: string[];
  env: Record<string, string>;
  cwd?: string;
  /** The directory of the configuration file. A relative `cwd` is relative to it. */
  baseDir?: string;
}

export interface RemoteTarget {
  /** `remote` tries Streamable HTTP, then SSE. */
  kind: "http" | "sse" | "remote";
  url: string;
  headers: Record<string, string>;
  /** Allows plain http to other machines. */
  allowInsecure: boolean;
  /** Allows addresses in private networks. */
  allowPrivate: boolean;
  /** How to sign in if the server asks for it; `false` never signs in. */
  oauth?: OAuthSettings | false;
  /** Paths of PEM files. */
  tls?: { ca?: string; cert?: string; key?: string };
  /** The directory of the configuration file. Relative paths in `tls` are relative to it. */
  baseDir?: string;
}

/** Runs in the ACP client that opened the session, and is reached through its connection. */
export interface AcpTarget {
  kind: "acp";
  /** The client's id of the server. */
  serverId: string;
  /** Nothing in it is a path. */
  baseDir?: undefined;
}

/** How a worker runs a server that all others reach at a URL. */
export interface Worker {
  process: StdioTarget;
  /** As configured: may have references in it. */
  token: string;
  protocol: ProtocolChoice;
}

export type ServerTarget = StdioTarget | RemoteTarget | AcpTarget;

/** Whether the server is at a URL. */
export function isRemote(target: ServerTarget): target is RemoteTarget {
  return target.kind !== "stdio" && target.kind !== "acp";
}

/** Whether each person has it for themselves: they sign in to it, or their JWTs are exchanged. */
export function isPerUser(definition: Pick<ServerDefinition, "target">): boolean {
  return oauthOf(definition)?.per === "user" || isExchanged(definition);
}

/** Whether each person's JWT is exchanged for a token: nobody signs in to it. */
export function isExchanged(definition: Pick<ServerDefinition, "target">): boolean {
  return oauthOf(definition)?.grant === "token_exchange";
}

function oauthOf({ target }: Pick<ServerDefinition, "target">): OAuthSettings | undefined {
  return (isRemote(target) && target.oauth) || undefined;
}

/** A target with its references filled in. */
export interface ResolvedTarget<Target extends ServerTarget = ServerTarget> {
  target: Target;
  /** Gets the secrets in it again, because the server refuses them. Absent if it has none. */
  renew?: () => Promise<ResolvedTarget>;
}

export interface ResourceSettings {
  enabled: boolean;
  /** A prompt has only their names, not their text. */
  listOnly?: true;
  /** URI patterns with `*` for any text, or parts of URIs without. Empty: all resources. */
  filter: string[];
  /** Milliseconds after which resource lists, and resources in prompts, are read again. */
  refreshMs: number;
}

/** Milliseconds a call may take without progress, where the configuration does not say. */
export const DEFAULT_TOOL_TIMEOUT_MS = 60_000;
/** Calls a minute to a server without a limit of its own, in sessions in which a model makes the calls on its own. */
export const SESSION_RATE_LIMIT = 100;

export interface ServerDefinition {
  name: string;
  origin: ServerScope;
  enabled: boolean;
  target: ServerTarget;
  /** The program behind the target, which only its worker starts. */
  worker?: Worker;
  /** A process of the program in each of several gateways is right. */
  replicas?: "each";
  /** The header of the target that comes from `auth`, and not from `headers`. */
  authHeader?: string | undefined;
  /** Milliseconds a start may take. */
  timeout: number;
  /** `timeout` is from the configuration. Absent: it is the default. */
  hasTimeout?: true;
  /** Milliseconds a call may take without progress. */
  toolTimeout: number;
  /** `toolTimeout` is from the configuration. Absent: it is the default. */
  hasToolTimeout?: true;
  restartOnCrash: boolean;
  /** How often in a row the server is started again; after that it is `failed`. */
  maxRestarts: number;
  lazy: boolean;
  /** Stops the server after this many milliseconds without a call; 0 never. */
  idleTimeout: number;
  /** Whether a background gateway keeps it running between commands. Absent: as set for the agent. */
  keepAlive?: boolean;
  protocol: ProtocolChoice;
  /** Each session starts its own. Absent: all sessions share one. */
  scope?: "session";
  /** Replaces the server's name in public tool names. */
  toolPrefix?: string;
  /** Which tools are shown to the model. Absent: all. */
  include?: Include;
  maxMessageBytes: number;
  /** Absent if nothing is configured for its resources; then all can be read. */
  resources?: ResourceSettings;
  /** The directories it gets as roots. Absent: as set for the board. */
  roots?: RootsSetting;
  /** Whether it may use your model. Absent: it may not. */
  sampling?: Exclude<SamplingMode, "deny">;
  /** Absent if nothing is configured for the guard. */
  guard?: ServerGuard;
  /** What `plugboard login` takes to sign in to it. Absent: its name. */
  signInAs?: string;
  /** For a session's server: the configured server of the same name and URL, whose stored login it uses. */
  matchingServer?: ServerDefinition;
  /** Absent where there is only one file. */
  from?: ServerOrigin;
}

/** Which of several configuration files a server is from. */
export interface ServerOrigin {
  file: string;
  /** The file beneath, which has a server of this name too. */
  hides?: string;
}
