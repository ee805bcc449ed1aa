// Makes a server's configuration of what was typed: the words after the name, variables and headers, or JSON.

import { parseText } from "../../../config/text/document.ts";
import { PlugboardError } from "../../../model/errors.ts";
import { isJsonObject, type JsonObject } from "../../../model/json.ts";
import type { ServerConfig } from "../../../model/server-config.ts";
import { oneLine, shellQuoted } from "../../../util/text.ts";
import type { AddCommand } from "./command.ts";

type Typed = Pick<AddCommand, "name" | "words" | "env" | "headers" | "transport">;

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
  const { name, words, env } = withFurtherVariables(typed);
  const [target = "", ...args] = words;
  if (target === "") {
    throw wrong(
      `there is nothing to add as '${oneLine(name, 100)}'`,
      "give a command after --, or a URL: plugboard add <name> -- <command> [arguments]",
    );
  }
  const isRemote = transport === undefined ? IS_URL.test(target) : transport !== "stdio";
  if (isRemote) return { name, server: readRemote(target, { args, env, headers, transport }) };
  if (headers.length > 0) {
    throw wrong("a header (-H) is for a URL, and this is a command", "pass it in a variable: -e");
  }
  if (IS_URL.test(target)) {
    throw wrong("this is a URL, and -t stdio is for a command", "leave out -t");
  }
  refuseOneWord(name, target, args);
  const variables = pairs(env, readVariable);
  return {
    name,
    server: {
      command: target,
      ...(args.length > 0 && { args }),
      ...(env.length > 0 && { env: variables }),
    },
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
  }: Pick<Typed, "env" | "headers" | "transport"> & { args: string[] },
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
    throw wrong(`'${oneLine(extra, 100)}' is too much: a URL has no arguments`);
  }
  if (env.length > 0) {
    throw wrong("a variable (-e) is for a command, and this is a URL", "pass it in a header: -H");
  }
  return {
    ...(transport !== undefined && { type: transport }),
    url,
    ...(headers.length > 0 && { headers: pairs([...headers, ...args], readHeader) }),
  };
}

/** A whole command line in quotes would be looked for as one program. */
function refuseOneWord(name: string, command: string, args: readonly string[]): void {
  if (args.length > 0 || !/^[\w@./-]+ +\S/.test(command) || /^[./~]|^[A-Za-z]:/.test(command)) {
    return;
  }
  throw wrong(
    `'${oneLine(command, 100)}' is one word, so it would be taken for the name of a program`,
    `leave out the quotes: plugboard add ${shellQuoted(name)} -- ${oneLine(command)}`,
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
  if (isJsonObject(document.value) && document.issues.length === 0) return { ...document.value };
  throw wrong(
    'the JSON is not a server; expected an object such as { "command": "npx", "args": [] }',
  );
}

function wrong(message: string, hint?: string): PlugboardError {
  return new PlugboardError("INVALID_ARGUMENTS", message, { hint });
}
