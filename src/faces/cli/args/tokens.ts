// The arguments of a call as they stand on the command line, with files and stdin read in. Types come later,
// with the tool's schema.

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { JsonObject } from "../../../model/json.ts";
import type { CliIo } from "../io.ts";
import { readStdin } from "../terminal/read-stdin.ts";
import { invalidArguments } from "./invalid.ts";
import { parseJson, parseJsonObject } from "./json-text.ts";

export type GivenValue =
  /** To be typed by the schema. */
  | { kind: "text"; text: string }
  /** What a file holds: a text, whatever it looks like. */
  | { kind: "content"; text: string }
  /** As it stands. */
  | { kind: "json"; value: unknown };

export interface GivenArguments {
  /** The whole object, where one was given. */
  whole: JsonObject;
  pairs: { key: string; value: GivenValue }[];
}

export interface TokenSource {
  io: Pick<CliIo, "stdin" | "cwd">;
  signal: AbortSignal;
  /** Told that a person at a terminal is being waited for. */
  onPrompt: () => void;
}

const FORMS = "give key=value, key:=json, a JSON object, @file or -";

export async function readTokens(
  tokens: readonly string[],
  source: TokenSource,
): Promise<GivenArguments> {
  const reader = new TokenReader(source);
  for (const token of tokens) await reader.read(token);
  return reader.given;
}

class TokenReader {
  readonly given: GivenArguments = { whole: {}, pairs: [] };
  readonly #source: TokenSource;
  #wholeFrom: string | undefined;
  #readsStdin = false;

  constructor(source: TokenSource) {
    this.#source = source;
  }

  async read(token: string): Promise<void> {
    if (token === "-") return this.#take("stdin", await this.#stdin());
    if (token.trimStart().startsWith("{")) return this.#take("the argument", token);
    if (token.startsWith("@")) {
      const path = token.slice(1);
      return this.#take(path, await this.#file(path));
    }
    const [, key, raw, text] = /^([^=]*?)(:?)=(.*)$/su.exec(token) ?? [];
    if (!key || text === undefined) {
      throw invalidArguments([`'${token}' is no argument`], FORMS);
    }
    this.given.pairs.push({ key, value: await this.#value(key, text, raw === ":") });
  }

  async #value(key: string, text: string, raw: boolean): Promise<GivenValue> {
    if (raw) return { kind: "json", value: await parseJson(text, `the value of '${key}'`) };
    if (text === "@-") return { kind: "content", text: await this.#stdin() };
    if (text.startsWith("@") && text.length > 1) {
      return { kind: "content", text: await this.#file(text.slice(1), key) };
    }
    return { kind: "text", text };
  }

  async #take(from: string, text: string): Promise<void> {
    if (this.#wholeFrom !== undefined) {
      throw invalidArguments([`two JSON objects are given, by ${this.#wholeFrom} and by ${from}`]);
    }
    this.#wholeFrom = from;
    this.given.whole = await parseJsonObject(text, from);
  }

  async #file(path: string, key?: string): Promise<string> {
    const { io } = this.#source;
    try {
      return await readFile(resolve(io.cwd, path), "utf8");
    } catch (cause) {
      const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
      const hint = key === undefined ? undefined : `a text that begins with @: ${key}:='"@…"'`;
      throw invalidArguments([`${path} cannot be read (${code})`], hint);
    }
  }

  async #stdin(): Promise<string> {
    if (this.#readsStdin) throw invalidArguments(["stdin is asked for twice"]);
    this.#readsStdin = true;
    const { io, signal, onPrompt } = this.#source;
    return readStdin(io.stdin, signal, onPrompt);
  }
}
