// A server that is typed on the command line, as a command after `--` or as a URL, and is in no configuration: how it
// is told apart from the other words of a command, and the options that belong to it.

import type { ServerConfig } from "../core/types/server-config.ts";
import type { Option } from "./option.ts";

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

export const URL_OPTIONS = {
  allowInsecure: {
    kind: "flag",
    name: "--allow-insecure",
    about: "use a URL without TLS that is not on this machine",
  },
  allowPrivate: {
    kind: "flag",
    name: "--allow-private",
    about: "use a URL whose address is in a private network",
  },
} as const satisfies Record<string, Option>;

export const SERVER_OPTIONS = {
  env: {
    kind: "list",
    name: "--env",
    short: "-e",
    value: "KEY[=value]",
    about: "a variable for a command after --",
  },
  header: {
    kind: "list",
    name: "--header",
    short: "-H",
    value: "header",
    about: "a header for a URL",
  },
  ...URL_OPTIONS,
} as const satisfies Record<string, Option>;

/** For the help of every command that can use one. */
export const SERVER_NOTES = `
A command after --, or a URL, is used in place of the configured servers, for
this time only. -e passes it a variable: KEY=value, or KEY for the one you have.`;

/** How a command can use one. */
export interface TakesServer {
  /** Whether the first word is the URL of one. Absent: if it looks like a URL. */
  isUrl?: (word: string, others: readonly string[]) => boolean;
  /** Why no command can be given after `--`; absent where one can. */
  noProgram?: string;
}

export interface TakenServer {
  /** Without the URL. */
  words: readonly string[];
  /** Absent if the command is about configured servers. */
  typed?: TypedServer;
}

const HTTP = /^https?:\/\//i;
/** Nobody calls a tool, a prompt or a server like this. A `file:` URI may be something to look for. */
const URL_LIKE = /^(?!file:)[a-z][a-z\d+.-]*:\/\//i;

/** `behind` are the words after `--`. */
export function takeServer(
  { isUrl = (word) => URL_LIKE.test(word) }: TakesServer,
  words: readonly string[],
  behind: readonly string[] | undefined,
  options: Readonly<Record<string, unknown>>,
): TakenServer {
  const [first, ...others] = words;
  const url = first !== undefined && isUrl(first, others) ? first : undefined;
  const { env = [], header: headers = [], ...given } = options as GivenServerOptions;
  const exceptions = exceptionsIn(given);
  const isTyped =
    url !== undefined ||
    behind !== undefined ||
    [...env, ...headers, ...Object.keys(exceptions)].length > 0;
  if (!isTyped) return { words };
  return {
    words: url === undefined ? words : others,
    typed: { ...(url && { url }), ...(behind && { words: behind }), env, headers, ...exceptions },
  };
}

/** Options of a server can be given without one. */
export function hasServer({ url, words }: TypedServer): boolean {
  return url !== undefined || words !== undefined;
}

/** A command that takes only a URL has no others. */
type GivenServerOptions = UrlExceptions & Partial<Record<"env" | "header", readonly string[]>>;

export function exceptionsIn({ allowInsecure, allowPrivate }: UrlExceptions): UrlExceptions {
  return {
    ...(allowInsecure === true && { allowInsecure }),
    ...(allowPrivate === true && { allowPrivate }),
  };
}

/** As they are typed. */
export function exceptionOptions({ allowInsecure, allowPrivate }: UrlExceptions): string[] {
  return [
    ...(allowInsecure ? [URL_OPTIONS.allowInsecure.name] : []),
    ...(allowPrivate ? [URL_OPTIONS.allowPrivate.name] : []),
  ];
}

/** For commands whose words may be URIs of any other kind. */
export function isHttp(word: string): boolean {
  return HTTP.test(word);
}
