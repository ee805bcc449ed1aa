// Files that a command generates. Each begins with a line that says so, and only such a file is ever replaced.

import { chmod, lstat, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { readTextFile, writeTextFile } from "../core/config/text/text-file.ts";
import { cancelled, PlugboardError } from "../core/types/errors.ts";
import { shellQuoted } from "../util/text.ts";
import { visible } from "../util/visible.ts";
import type { CliContext } from "./context.ts";

const MARK = /^(?:#!.*\n)?\/\/ Written by `plugboard /;

/**
 * `text` begins with a comment that says which command has written it. Rejects with INVALID_ARGUMENTS if somebody else's
 * file is there, or a link: in a directory of somebody else's, it could lead to a file that is run.
 */
export async function writeGenerated(
  file: string,
  text: string,
  { io, signal }: Pick<CliContext, "io" | "signal">,
  { isProgram = false }: { isProgram?: boolean } = {},
): Promise<void> {
  // A user who pressed Ctrl-C while the servers stopped does not want the file any more.
  if (signal.aborted) throw cancelled();
  const path = resolve(io.cwd, file);
  const inTheWay = await otherThanFile(path);
  if (inTheWay !== undefined) {
    const hint =
      inTheWay === "a link"
        ? "name the file that it leads to, or another one, with --output"
        : "name another one with --output";
    const message = `${visible(file)} is ${inTheWay}, so it was not replaced`;
    throw new PlugboardError("INVALID_ARGUMENTS", message, { hint });
  }
  const before = await readTextFile(path);
  if (before.text !== undefined && before.text.trim() !== "" && !MARK.test(before.text)) {
    throw new PlugboardError(
      "INVALID_ARGUMENTS",
      `${visible(file)} exists and was not generated, so it was not replaced`,
      { hint: `choose another name, or remove it: rm ${shellQuoted(file)}` },
    );
  }
  await writeTextFile(before, text);
  if (isProgram) await makeRunnable(before.target);
}

/** Undefined for a file, and where there is nothing. */
async function otherThanFile(path: string): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || found.isFile()) return undefined;
  if (found.isSymbolicLink()) return "a link";
  return found.isDirectory() ? "a directory" : "not a file";
}

/** Whoever may read it may run it. */
async function makeRunnable(path: string): Promise<void> {
  const { mode } = await stat(path);
  await chmod(path, (mode & 0o7777) | ((mode & 0o444) >> 2));
}
