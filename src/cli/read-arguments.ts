// Reads the arguments of a call from the command line, files and stdin.

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { invalidArguments } from "../core/tools/arguments/invalid.ts";
import { type GivenArguments, literalAt, parseArguments } from "../core/tools/arguments/parse.ts";
import { errorCode } from "../util/error-code.ts";
import type { CliIo } from "./io.ts";
import { readStdin, type StdinSource } from "./terminal/input.ts";

export interface ArgumentInput extends StdinSource {
  io: Pick<CliIo, "stdin" | "cwd">;
}

export function readArguments(
  words: readonly string[],
  input: ArgumentInput,
): Promise<GivenArguments> {
  let readsStdin = false;
  return parseArguments(words, {
    file: (path, key) => readValue(path, key, input.io.cwd),
    async stdin() {
      if (readsStdin) throw invalidArguments(["stdin can only be read once"]);
      readsStdin = true;
      return readStdin(input);
    },
  });
}

async function readValue(path: string, key: string | undefined, cwd: string): Promise<string> {
  try {
    return await readFile(resolve(cwd, path), "utf8");
  } catch (cause) {
    const code = errorCode(cause) ?? "unknown error";
    const problem =
      code === "ENOENT" ? `there is no file ${path}` : `cannot read ${path} (${code})`;
    throw invalidArguments([problem], key === undefined ? undefined : literalAt(key));
  }
}
