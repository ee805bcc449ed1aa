// A server that is typed on the command line, as a command after `--` or as a URL, and is in no configuration: how it
// is told apart from the other words of a command.

import type { ServerConfig } from "../core/types/server-config.ts";

/** What a URL may do that is refused otherwise, as in the configuration. */
export interface UrlExceptions {
  allowInsecure?: boolean;
  allowPrivate?: boolean;
}

/** As it was typed. What is wrong with it is said when it is used. */
export interface TypedServer extends UrlExceptions {
  url?: string;
  /** The words after `--`. */
  words?: readonly string[];
  /** `KEY=value`, or `KEY` for the variable of that name. */
  env: readonly string[];
  /** `Name: value` */
  headers: readonly string[];
  /** In place of all of these: the server of a generated command line. */
  embedded?: { name: string; server: ServerConfig };
}

export interface TypedOptions extends UrlExceptions {
  env?: readonly string[];
  header?: readonly string[];
}

export interface TakenServer {
  /** Without the URL. */
  words: string[];
  /** Absent if the command is about configured servers. */
  typed?: TypedServer;
}

const HTTP = /^https?:\/\//i;
/** Nobody calls a tool, a prompt or a server like this. A `file:` URI may be something to look for. */
const URL_LIKE = /^(?!file:)[a-z][a-z\d+.-]*:\/\//i;

/** `behind` are the words after `--`; `isServer` says whether a first word that looks like a URL is a server. */
export function takeServer(
  words: readonly string[],
  behind: readonly string[] | undefined,
  { env = [], header: headers = [], ...given }: TypedOptions,
  isServer: (word: string) => boolean = (word) => URL_LIKE.test(word),
): TakenServer {
  const [first] = words;
  const url = first !== undefined && isServer(first) ? first : undefined;
  const exceptions = exceptionsIn(given);
  const options = [...env, ...headers, ...Object.keys(exceptions)];
  const isTyped = url !== undefined || behind !== undefined || options.length > 0;
  if (!isTyped) return { words: [...words] };
  return {
    words: words.slice(url === undefined ? 0 : 1),
    typed: { ...(url && { url }), ...(behind && { words: behind }), env, headers, ...exceptions },
  };
}

export function exceptionsIn({ allowInsecure, allowPrivate }: UrlExceptions): UrlExceptions {
  return {
    ...(allowInsecure === true && { allowInsecure }),
    ...(allowPrivate === true && { allowPrivate }),
  };
}

/** As they are typed. */
export function exceptionOptions({ allowInsecure, allowPrivate }: UrlExceptions): string[] {
  return [
    ...(allowInsecure ? ["--allow-insecure"] : []),
    ...(allowPrivate ? ["--allow-private"] : []),
  ];
}

/** For commands whose words may be URIs of any other kind. */
export function isHttp(word: string): boolean {
  return HTTP.test(word);
}

/** Commands that take a server after `--`. For all others, the words after it are words like any other. */
const TAKERS: ReadonlySet<string> = new Set([
  "tools",
  "call",
  "resources",
  "read",
  "prompts",
  "prompt",
  "types",
  "generate-cli",
  "trace",
  "record",
  "login",
  "logout",
]);
/** Options of every command that take a value, which is no command. */
const VALUED: ReadonlySet<string> = new Set(["--config", "--agent", "--log-level"]);

/** The words that the parser reads, and those after `--` if a server is typed there. */
export function splitWords(argv: readonly string[]): {
  argv: readonly string[];
  behind?: readonly string[];
} {
  const end = argv.indexOf("--");
  if (end === -1) return { argv };
  const head = argv.slice(0, end);
  return commandAt(head) === -1 ? { argv } : { argv: head, behind: argv.slice(end + 1) };
}

/** Where the command is that takes a server; -1 for another command. */
export function commandAt(argv: readonly string[]): number {
  const at = argv.findIndex(
    (word, index) => !word.startsWith("-") && !VALUED.has(argv[index - 1] ?? ""),
  );
  return TAKERS.has(argv[at] ?? "") ? at : -1;
}
