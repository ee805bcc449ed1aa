// A server that was typed in a way which is not understood: without `--` before its command, without the beginning of its
// URL, or in the wrong place. It is only said once something has failed, since a tool may be called like that too.

import { PlugboardError } from "../../core/types/errors.ts";
import { shellQuoted } from "../../util/text.ts";
import { isHttp } from "../typed-server.ts";

/** Programs that start servers. */
const STARTERS: ReadonlySet<string> = new Set(
  "npx node bunx bun deno pnpm yarn uvx uv pipx python python3 docker podman dnx".split(" "),
);
const LOCAL = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?(?:\/.*)?$/i;
const DOMAIN = /^(?:[a-z\d-]+\.)+[a-z\d]+(?::\d+|(?::\d+)?\/.*)$/i;

/** The URL that is meant by an address without a scheme. Undefined for what is not an address. */
export function urlMeantBy(word: string): string | undefined {
  if (LOCAL.test(word)) return `http://${word}`;
  return DOMAIN.test(word) ? `https://${word}` : undefined;
}

/** Ends of domains. A name of the MCP registry begins with one: it is the domain backwards. */
const ENDS: ReadonlySet<string> = new Set(
  "com org net io dev ai app co cloud sh me eu uk de".split(" "),
);

/** The same where a command or a name of the MCP registry could be meant too. */
export function urlMeantByName(word: string): string | undefined {
  const [host = ""] = word.toLowerCase().split("/");
  const labels = host.split(".");
  const isAddress = /:\d+$/.test(host) || LOCAL.test(word);
  const isForward = ENDS.has(labels.at(-1) ?? "") && !ENDS.has(labels[0] ?? "");
  return isAddress || isForward ? urlMeantBy(word) : undefined;
}

/** A hint, with a command to copy at its end. Undefined if no server seems to be meant. `words` are those of the command. */
export function hintAtServer(command: string, words: readonly string[]): string | undefined {
  if (words.includes("--")) return undefined;
  const isCall = command === "call";
  const first = words.find((word) => !word.startsWith("-")) ?? "";
  const url = urlMeantBy(first);
  if (url !== undefined) {
    const rest = isCall ? " <tool>" : "";
    return `a URL begins with https:// or http://, as in: plugboard ${command} ${shellQuoted(url)}${rest}`;
  }
  if (isCall && words.slice(1).some(isHttp)) {
    return "arguments are key=value; the URL of a server comes before the tool: plugboard call <url> <tool>";
  }
  const start = words.findIndex((word) => STARTERS.has(word));
  if (start === -1 || start === words.length - 1 || command.startsWith("log")) return undefined;
  const before = isCall && start === 0 ? ["<tool>"] : words.slice(0, start).map(shellQuoted);
  const line = [command, ...before, "--", ...words.slice(start).map(shellQuoted)].join(" ");
  return `the command of a server comes after --, as in: plugboard ${line}`;
}

/** For a server where a command of ours is expected. */
export function hintAtCommand(words: readonly string[]): string | undefined {
  const [first = ""] = words;
  const url = isHttp(first) ? first : urlMeantBy(first);
  if (url === undefined && !STARTERS.has(first)) return undefined;
  const server = url === undefined ? `-- ${words.map(shellQuoted).join(" ")}` : shellQuoted(url);
  return `to see the tools of a server: plugboard tools ${server}`;
}

/** The same error, with that hint in place of its own. */
export function withServerHint(error: unknown, command: string, words: readonly string[]): unknown {
  if (!(error instanceof PlugboardError) || !MISTAKES.has(error.code)) return error;
  const hint = hintAtServer(command, words);
  const { code, message, server, cause } = error;
  return hint === undefined ? error : new PlugboardError(code, message, { server, cause, hint });
}

const MISTAKES: ReadonlySet<string> = new Set([
  "UNKNOWN_SERVER",
  "UNKNOWN_TOOL",
  "INVALID_ARGUMENTS",
]);
