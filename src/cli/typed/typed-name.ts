// The name of a typed server, by which its calls are audited and rules match its tools: the package, the program or the
// host, so that the same words always give the same name.

import { createHash } from "node:crypto";
import { basename, resolve } from "node:path";
import { isScript, programOf } from "../../core/process/program.ts";
import type { ServerConfig } from "../../core/types/server-config.ts";

const LONGEST = 40;

/** `@modelcontextprotocol/server-time` is `server-time`, and `https://mcp.example.com/mcp` is `mcp.example.com`. */
export function typedName(
  { url, command = "", args = [] }: Pick<ServerConfig, "url" | "command" | "args">,
  cwd: string,
): string {
  const raw = url === undefined ? commandName(command, args, cwd) : hostName(url);
  const name = raw
    .replace(/[^\w.-]+/g, "-")
    .replace(/-{2,}/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "");
  // The name of the native tools is taken.
  if (name === "" || name === "native") return "server";
  return name.length <= LONGEST ? name : `${name.slice(0, LONGEST - 5)}-${digest(raw)}`;
}

/** Whether the words name a file in the working directory, so that they mean another server elsewhere. */
export function needsWorkingDirectory({
  command = "",
  args = [],
}: Pick<ServerConfig, "command" | "args">): boolean {
  return [command, ...args].some((word) => isScript(word) && !/^[/~\\]|^[A-Za-z]:[\\/]/.test(word));
}

/** Another name for it, where a configured server has the first one. */
export function otherName(name: string, target: unknown): string {
  return `${name}-${digest(JSON.stringify(target))}`;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 4);
}

/** Paths and ports that say nothing about the server. */
const USUAL_PATH = /^\/(?:mcp|sse|v\d+)?\/?$/;

function hostName(url: string): string {
  if (!URL.canParse(url)) return "";
  const { hostname, port, pathname } = new URL(url);
  const path = USUAL_PATH.test(pathname) ? "" : pathname;
  return `${hostname.replace(/^\[|\]$/g, "")}${port === "" ? "" : `-${port}`}${path}`;
}

function commandName(command: string, args: readonly string[], cwd: string): string {
  const { kind, name, runner } = programOf(command, args);
  switch (kind) {
    case "image":
      return basename(name);
    case "package":
      // The scope stays, since it says whose it is, unless it is that of the protocol itself.
      return name.replace(/^@modelcontextprotocol\//, "");
    case "module":
      return name;
    case "script":
      return scriptName(name, cwd);
    case "command":
      return isPath(name) ? scriptName(name, cwd) : runner;
  }
}

/** What so many files are called that it names none of them: then the directory does. */
const USUAL_NAMES =
  /^(?:index|main|server|mcp|mcp-server|cli|bin|app|start|run|src|lib|dist|build|out|target|release|debug|scripts?|__main__)$/i;

function scriptName(path: string, cwd: string): string {
  const parts = resolve(cwd, path).split(/[\\/]/).filter(Boolean).reverse();
  const names = parts.map((part, at) => (at === 0 ? part.replace(/\.[a-z]{1,4}$/i, "") : part));
  return names.find((name) => !USUAL_NAMES.test(name)) ?? names[0] ?? "";
}

function isPath(word: string): boolean {
  return /[\\/]/.test(word);
}
