// Reads the arguments of a call from the command line, files and stdin.

import type { FileHandle } from "node:fs/promises";
import { resolve } from "node:path";
import { invalidArguments } from "../core/tools/arguments/invalid.ts";
import { type GivenArguments, literalAt, parseArguments } from "../core/tools/arguments/parse.ts";
import { errorCode } from "../util/error-code.ts";
import type { CliIo } from "./io.ts";
import { openGivenFile } from "../util/regular-file.ts";
import { LARGEST_INPUT, readStdin, type StdinSource } from "./terminal/input.ts";

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
  const hint = key === undefined ? undefined : literalAt(key);
  let file: FileHandle | undefined;
  try {
    file = await openGivenFile(resolve(cwd, path));
    const text = await readUpTo(file, LARGEST_INPUT);
    if (text !== undefined) return text;
  } catch (cause) {
    throw invalidArguments([problemOf(path, errorCode(cause))], hint);
  } finally {
    await file?.close();
  }
  throw invalidArguments([`${path} is larger than 64 MiB`], hint);
}

/** Undefined if there is more. */
async function readUpTo(file: FileHandle, most: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of file.createReadStream({ autoClose: false })) {
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.length;
    if (size > most) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function problemOf(path: string, code = "unknown error"): string {
  if (code === "ENOENT") return `there is no file ${path}`;
  return code === "ENOTREGULAR" ? `${path} is not a file` : `cannot read ${path} (${code})`;
}
