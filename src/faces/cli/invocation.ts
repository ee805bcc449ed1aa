// What a command line asks for, once it has been read.

import type { Since } from "./audit/time.ts";
import type { LogThreshold } from "./terminal/log.ts";

export interface GlobalOptions {
  config?: string;
  agent?: string;
  json: boolean;
  color: boolean;
  logLevel: LogThreshold;
  /** The person owns what the board can reach. */
  owner: boolean;
  exitWithStdin: boolean;
}

export interface ToolsCommand {
  kind: "tools";
  /** Words that must all be found. */
  query: string[];
  server?: string;
  refresh: boolean;
  /** With parameters. */
  long: boolean;
}

export interface CallCommand {
  kind: "call";
  tool: string;
  args: string[];
  /** Milliseconds. */
  timeout?: number;
  /** Where binary content is saved. */
  output?: string;
}

export interface AskCommand {
  kind: "ask";
  /** Words of the prompt; `-` alone is stdin. */
  prompt: string[];
  /** `provider/model` */
  model?: string;
  /** Every call may be made. */
  yes: boolean;
}

export interface ResourcesCommand {
  kind: "resources";
  /** Words that must all be found. */
  query: string[];
  server?: string;
}

export interface ReadCommand {
  kind: "read";
  uri: string;
  server?: string;
  /** Where binary content is saved. */
  output?: string;
}

export interface PromptsCommand {
  kind: "prompts";
  /** Words that must all be found. */
  query: string[];
  server?: string;
}

export interface PromptCommand {
  kind: "prompt";
  name: string;
  args: string[];
}

export interface StatusCommand {
  kind: "status";
  server?: string;
}

export interface LoginCommand {
  kind: "login";
  server: string;
  /** Try to open one. */
  browser: boolean;
}

export interface LogoutCommand {
  kind: "logout";
  server: string;
}

export interface PinsCommand {
  kind: "pins";
  action:
    | { kind: "list" }
    /** `target` is `server/tool`, or a server for everything of it. */
    | { kind: "show" | "approve" | "forget"; target: string }
    | { kind: "forget-all" };
}

export interface AuditCommand {
  kind: "audit";
  follow: boolean;
  server?: string;
  /** A pattern. */
  tool?: string;
  since?: Since;
  limit?: number;
}

export type TrustCommand = { kind: "trust" } & (
  | { action: "approve"; yes: boolean }
  | { action: "list" }
  /** Without a file: the one in the working directory. */
  | { action: "revoke"; file?: string }
);

export type Command =
  | { kind: "overview" }
  | ToolsCommand
  | CallCommand
  | AskCommand
  | ResourcesCommand
  | ReadCommand
  | PromptsCommand
  | PromptCommand
  | StatusCommand
  | LoginCommand
  | LogoutCommand
  | TrustCommand
  | PinsCommand
  | AuditCommand
  | { kind: "acp" }
  | { kind: "demo" };

export type Invocation =
  | { kind: "run"; command: Command; options: GlobalOptions }
  /** Help, the version or a usage error: it has been printed. */
  | { kind: "answered"; exitCode: number };
