// Makes a server's configuration of what was typed: the words after the name, variables and headers, or JSON.

import { urlProblem } from "../core/config/schema/values.ts";
import { parseText } from "../core/config/text/document.ts";
import { isJsonObject, type JsonObject } from "../core/types/json.ts";
import type { ServerConfig } from "../core/types/server-config.ts";
import { oneLine, shellQuoted } from "../util/text.ts";
import {
  exceptionOptions,
  exceptionsIn,
  type TypedServer,
  type UrlExceptions,
} from "./typed-server.ts";
import { wrong } from "./wrong.ts";

/** A server as `plugboard add` takes it. */
interface Typed extends UrlExceptions {
  name: string;
  /** The command with its arguments, or the URL. */
  words: string[];
  env: string[];
  headers: string[];
  transport?: "stdio" | "http" | "sse";
}

export interface ReadServer {
  name: string;
  server: ServerConfig;
}

const VARIABLE = /^([^=\s]+)=([^]*)$/;
/** Nobody calls a server or a program like this. */
const IS_VARIABLE = /^[A-Za-z_]\w*=/;
const IS_URL = /^https?:\/\//i;

/** Throws INVALID_ARGUMENTS. */
export function readServer(typed: Typed): ReadServer {
  const { transport, headers } = typed;
  const exceptions = exceptionsIn(typed);
  const { name, words, env } = withFurtherVariables(typed);
  const [target = "", ...args] = words;
  if (target === "") {
    throw wrong(
      `there is nothing to add as '${oneLine(name, 100)}'`,
      "give a command after --, or a URL: plugboard add <name> -- <command> [arguments]",
    );
  }
  const isRemote = transport === undefined ? IS_URL.test(target) : transport !== "stdio";
  if (isRemote)
    return { name, server: readRemote(target, { args, env, headers, transport, exceptions }) };
  if (IS_URL.test(target)) {
    throw wrong("this is a URL, and -t stdio is for a command", "leave out -t");
  }
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(target))
    throw wrong(`'${oneLine(target, 200)}' ${urlProblem(target)}`);
  const before = `plugboard add ${shellQuoted(name)}`;
  return {
    name,
    server: readCommand(words, { headers, exceptions, before, env: pairs(env, readVariable) }),
  };
}

/** `argv` is the command line, to be offered without its mistake. Throws INVALID_ARGUMENTS. */
export function readTypedServer(typed: TypedServer, argv: readonly string[]): ServerConfig {
  const { url, words, env, headers } = typed;
  const exceptions = exceptionsIn(typed);
  if (url !== undefined && words !== undefined) {
    throw wrong(
      `'${oneLine(url, 200)}' is a URL, and there is a command after --`,
      "give one of them: a command uses one server",
    );
  }
  if (url !== undefined) {
    const problem = urlProblem(url);
    if (problem !== undefined) throw wrong(`'${oneLine(url, 200)}' ${problem}`);
    return readRemote(url, { args: [], env, headers, transport: undefined, exceptions });
  }
  if (words === undefined) {
    const [exception = "a header (-H)"] = exceptionOptions(exceptions);
    const given =
      env.length > 0 ? "a variable (-e)" : headers.length > 0 ? "a header (-H)" : exception;
    throw wrong(
      `${given} is for a server that you type, and there is none`,
      "give a command after --, or a URL; a configured server has its own in the configuration",
    );
  }
  const [command = ""] = words;
  if (command === "") {
    throw wrong(
      "there is nothing after --",
      "give a command with its arguments, such as: plugboard tools -- npx -y some-server",
    );
  }
  if (IS_URL.test(command)) {
    throw wrong(
      `'${oneLine(command, 200)}' is a URL, and a command is expected after --`,
      "leave out --, and give the URL first, such as: plugboard tools https://example.com/mcp",
    );
  }
  const before = ["plugboard", ...argv.slice(0, argv.indexOf("--")).map(shellQuoted)].join(" ");
  return readCommand(words, { headers, exceptions, before, env: pairs(env, readOwnVariable) });
}

function readCommand(
  [command = "", ...args]: readonly string[],
  given: {
    headers: readonly string[];
    exceptions: UrlExceptions;
    env: Record<string, string>;
    before: string;
  },
): ServerConfig {
  const { headers, exceptions, env, before } = given;
  const [exception] = exceptionOptions(exceptions);
  if (exception !== undefined) {
    throw wrong(`${exception} is for a URL, and this is a command`, "leave it out");
  }
  if (headers.length > 0) {
    throw wrong("a header (-H) is for a URL, and this is a command", "pass it in a variable: -e");
  }
  refuseOneWord(before, command, args);
  return {
    command,
    ...(args.length > 0 && { args }),
    ...(Object.keys(env).length > 0 && { env }),
  };
}

/** `-e A=1 B=2`, as `claude mcp add` takes it: what looks like a variable is one, until the command begins. */
function withFurtherVariables({ name, words, env }: Typed): Pick<Typed, "name" | "words" | "env"> {
  const all = [name, ...words];
  const isFurther = (word: string | undefined): boolean =>
    env.length > 0 && word !== undefined && IS_VARIABLE.test(word);
  const start = all.findIndex((word) => !isFurther(word));
  const rest = start === -1 ? [] : all.slice(start + 1);
  const end = rest.findIndex((word) => !isFurther(word));
  const further = [...all.slice(0, Math.max(0, start)), ...rest.slice(0, Math.max(0, end))];
  return {
    name: all[start] ?? name,
    words: rest.slice(Math.max(0, end)),
    env: [...env, ...further],
  };
}

function readRemote(
  url: string,
  {
    args,
    env,
    headers,
    transport,
    exceptions,
  }: Pick<TypedServer, "env" | "headers"> &
    Pick<Typed, "transport"> & { args: string[]; exceptions: UrlExceptions },
): ServerConfig {
  if (!IS_URL.test(url)) {
    throw wrong(
      `-t ${transport} is for a URL, and '${oneLine(url, 100)}' is none`,
      "give one such as https://example.com/mcp, or leave out -t for a command",
    );
  }
  // As with variables: `-H "A: 1" "B: 2"`.
  const isHeader = (word: string): boolean => headers.length > 0 && /^[\w-]+:\s/.test(word);
  const extra = args.find((word) => !isHeader(word));
  if (extra !== undefined) {
    throw wrong(`'${oneLine(extra, 100)}' is one word too many: a URL takes no arguments`);
  }
  if (env.length > 0) {
    throw wrong("a variable (-e) is for a command, and this is a URL", "pass it in a header: -H");
  }
  return {
    ...(transport !== undefined && { type: transport }),
    url,
    ...(headers.length > 0 && { headers: pairs([...headers, ...args], readHeader) }),
    ...exceptions,
  };
}

/** A whole command line in quotes would be looked for as one program. */
function refuseOneWord(before: string, command: string, args: readonly string[]): void {
  if (args.length > 0 || !/^[\w@./-]+ +\S/.test(command) || /^[./~]|^[A-Za-z]:/.test(command)) {
    return;
  }
  throw wrong(
    `'${oneLine(command, 100)}' is one word, so it would be taken for the name of a program`,
    `leave out the quotes: ${before} -- ${oneLine(command)}`,
  );
}

function pairs(
  given: readonly string[],
  read: (text: string) => [name: string, value: string],
): Record<string, string> {
  return Object.fromEntries(given.map(read));
}

function readVariable(text: string): [string, string] {
  const [, name, value] = VARIABLE.exec(text) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  const bare = /^\w+$/.test(text) ? text : "NAME";
  throw wrong("-e takes KEY=value", `to pass on a variable of yours: -e '${bare}=\${${bare}}'`);
}

/** `KEY` alone is the variable of that name: its value is then on no command line. */
function readOwnVariable(text: string): [string, string] {
  return /^[A-Za-z_]\w*$/.test(text) ? [text, `\${${text}}`] : readVariable(text);
}

/** `Name: value`, or `Name=value` as mcporter takes it. */
function readHeader(text: string): [string, string] {
  const [, name, value] = /^([^:=\s]+)\s*[:=]\s*([^]*)$/.exec(text) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  throw wrong("-H takes a header such as 'X-Team: blue'");
}

/** Throws INVALID_ARGUMENTS. */
export function readServerJson(json: string): JsonObject {
  const document = parseText(json);
  if (document.kind === "malformed") {
    const { line, column } = document.position;
    throw wrong(`the JSON cannot be read: ${line}:${column}  ${document.message}`);
  }
  const { value } = document;
  const server = isJsonObject(value) && document.issues.length === 0 ? unwrapped(value) : undefined;
  if (server !== undefined) return { ...server };
  throw wrong(
    'the JSON is not a server; expected an object such as { "command": "npx", "args": [] }',
  );
}

/** Documentation shows a server as it is in a file: `{ "mcpServers": { "name": { … } } }`. Undefined for several. */
function unwrapped(value: JsonObject): JsonObject | undefined {
  const [[key, servers] = [], ...others] = Object.entries(value);
  if (others.length > 0 || (key !== "mcpServers" && key !== "servers")) return value;
  const [server, ...further] = isJsonObject(servers) ? Object.values(servers) : [];
  return isJsonObject(server) && further.length === 0 ? server : undefined;
}
