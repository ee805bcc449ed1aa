// Reads the arguments of a call from the command line, files and stdin. Their types come later, from the tool's
// schema.

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { JsonObject } from "../../../model/json.ts";
import type { CliIo } from "../io.ts";
import { readStdin, type StdinSource } from "../terminal/input.ts";
import { invalidArguments } from "./invalid.ts";
import { parseJson, parseJsonObject } from "./json-text.ts";

export type GivenValue =
  /** Converted to the type in the schema. */
  | { kind: "text"; text: string }
  /** From a file: a text where the schema allows one, even if it looks like a number. */
  | { kind: "content"; text: string }
  /** Passed on unchanged. */
  | { kind: "json"; value: unknown };

export interface GivenArguments {
  /** The whole object, where one was given. */
  whole: JsonObject;
  pairs: { key: string; value: GivenValue }[];
}

export interface TokenSource extends StdinSource {
  io: Pick<CliIo, "stdin" | "cwd">;
}

const FORMS = "arguments are key=value, key:=json, a JSON object, @file, or - for stdin";

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
      throw invalidArguments([`unexpected argument '${token}'`], FORMS);
    }
    this.given.pairs.push({ key, value: await this.#value(key, text, raw === ":") });
  }

  async #value(key: string, text: string, raw: boolean): Promise<GivenValue> {
    if (raw) return { kind: "json", value: parseJson(text, `the value of '${key}'`) };
    if (text === "@-") return { kind: "content", text: await this.#stdin() };
    if (text.startsWith("@") && text.length > 1) {
      return { kind: "content", text: await this.#file(text.slice(1), key) };
    }
    return { kind: "text", text };
  }

  #take(from: string, text: string): void {
    if (this.#wholeFrom !== undefined) {
      throw invalidArguments([
        `only one JSON object can be given; there are two, from ${this.#wholeFrom} and ${from}`,
      ]);
    }
    this.#wholeFrom = from;
    this.given.whole = parseJsonObject(text, from);
  }

  async #file(path: string, key?: string): Promise<string> {
    const { io } = this.#source;
    try {
      return await readFile(resolve(io.cwd, path), "utf8");
    } catch (cause) {
      const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
      const hint =
        key === undefined ? undefined : `to pass a text that begins with @: ${key}:='"@…"'`;
      const problem =
        code === "ENOENT" ? `there is no file ${path}` : `cannot read ${path} (${code})`;
      throw invalidArguments([problem], hint);
    }
  }

  async #stdin(): Promise<string> {
    if (this.#readsStdin) throw invalidArguments(["stdin can only be read once"]);
    this.#readsStdin = true;
    return readStdin(this.#source);
  }
}
