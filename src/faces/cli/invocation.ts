// What a command line asks for, once it has been read.

import type { LogThreshold } from "./log.ts";

export interface GlobalOptions {
  config?: string;
  agent?: string;
  json: boolean;
  color: boolean;
  logLevel: LogThreshold;
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

export type Command =
  | { kind: "overview" }
  | ToolsCommand
  | CallCommand
  | StatusCommand
  | LoginCommand
  | LogoutCommand
  | { kind: "demo" };

export type Invocation =
  | { kind: "run"; command: Command; options: GlobalOptions }
  /** Help, the version or a usage error: it has been printed. */
  | { kind: "answered"; exitCode: number };
