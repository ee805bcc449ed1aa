// The name of a typed server, by which its calls are audited and rules match its tools: the package, the program or the
// host, so that the same words always give the same name.

import { createHash } from "node:crypto";
import { basename, resolve } from "node:path";
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
export function isLocal({
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

/** Programs that run a package, each with the words that stand between it and the package. */
const PACKAGE_RUNNERS: Readonly<Record<string, readonly string[]>> = {
  npx: [],
  bunx: [],
  pnpx: [],
  uvx: [],
  npm: ["exec", "x"],
  pnpm: ["dlx", "exec"],
  yarn: ["dlx"],
  bun: ["x"],
  pipx: ["run"],
  uv: ["tool", "run"],
};
const CONTAINER_RUNNERS: ReadonlySet<string> = new Set(["docker", "podman", "nerdctl"]);
const SCRIPT_RUNNERS = /^(?:node|bun|deno|tsx|ts-node|python[\d.]*|ruby|perl|php|bash|sh)$/;
/** Options whose value is a word of its own, and names nothing. */
const VALUED_OF_PACKAGES: ReadonlySet<string> = new Set([
  "--registry",
  "--cache",
  "--from",
  "--with",
  "--python",
  "--directory",
  "-w",
  "--workspace",
]);
const PACKAGE_OPTIONS: ReadonlySet<string> = new Set(["-p", "--package"]);
const FLAGS_OF_CONTAINERS =
  /^(?:-[itdP]+|--(?:rm|interactive|tty|init|privileged|read-only|detach))$/;
const VALUED_OF_SCRIPTS: ReadonlySet<string> = new Set([
  "-r",
  "--require",
  "--import",
  "--loader",
  "--conditions",
  "-C",
]);

function commandName(command: string, args: readonly string[], cwd: string): string {
  const program = basename(command.replaceAll("\\", "/")).replace(/\.(?:exe|cmd|bat)$/i, "");
  if (CONTAINER_RUNNERS.has(program) && args[0] === "run")
    return imageName(args.slice(1)) ?? program;
  const between = PACKAGE_RUNNERS[program];
  if (between !== undefined) {
    const start = args.findIndex((word) => !between.includes(word));
    const isRun = between.length === 0 || start > 0;
    const named = isRun ? packageWord(args.slice(Math.max(0, start))) : undefined;
    if (named !== undefined) return isScript(named) ? scriptName(named, cwd) : packageName(named);
  }
  if (!SCRIPT_RUNNERS.test(program)) return isPath(command) ? scriptName(command, cwd) : program;
  const module = args[args.indexOf("-m") + 1];
  if (program.startsWith("python") && args.includes("-m") && module !== undefined) return module;
  const script = firstWord(args[0] === "run" ? args.slice(1) : args, VALUED_OF_SCRIPTS);
  return script === undefined ? program : scriptName(script, cwd);
}

function firstWord(args: readonly string[], valued: ReadonlySet<string>): string | undefined {
  return args.find((word, at) => !word.startsWith("-") && !valued.has(args[at - 1] ?? ""));
}

function packageWord(args: readonly string[]): string | undefined {
  const at = args.findIndex((word) => PACKAGE_OPTIONS.has(word));
  return at === -1 ? firstWord(args, VALUED_OF_PACKAGES) : args[at + 1];
}

/** Without its version; the scope stays, since it says whose it is, unless it is that of the protocol itself. */
function packageName(named: string): string {
  return named
    .replace(/(?<=.)@[^/]*$/, "")
    .replace(/[=<>~!].*$/, "")
    .replace(/^@modelcontextprotocol\//, "");
}

/** Most options of a container have a value, so the image is the first word that follows none of them. */
function imageName(args: readonly string[]): string | undefined {
  const image = args.find((word, at) => {
    const before = args[at - 1] ?? "";
    const isValue =
      before.startsWith("-") && !FLAGS_OF_CONTAINERS.test(before) && !before.includes("=");
    return !word.startsWith("-") && !isValue;
  });
  return image && basename(image.replace(/@sha256:.*$/, "").replace(/:[^/:]*$/, ""));
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

/** A package may have a scope, and so a slash. */
function isScript(word: string): boolean {
  return /^[./~\\]|^[A-Za-z]:[\\/]|\.[cm]?[jt]sx?$|\.py$/.test(word);
}
