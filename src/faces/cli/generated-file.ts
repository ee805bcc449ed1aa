// Files that a command generates. Each begins with a line that says so, and only such a file is ever replaced.

import { chmod } from "node:fs/promises";
import { resolve } from "node:path";
import { readTextFile, writeTextFile } from "../../config/text/text-file.ts";
import { PlugboardError } from "../../model/errors.ts";
import { shellQuoted } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "./context.ts";

const MARK = /^(?:#!.*\n)?\/\/ Written by `plugboard /;

/** `text` begins with a comment that says which command has written it. Rejects with INVALID_ARGUMENTS if somebody else's file is there. */
export async function writeGenerated(
  file: string,
  text: string,
  { io }: Pick<CliContext, "io">,
  { isProgram = false }: { isProgram?: boolean } = {},
): Promise<void> {
  const before = await readTextFile(resolve(io.cwd, file));
  if (before.text !== undefined && before.text.trim() !== "" && !MARK.test(before.text)) {
    throw new PlugboardError(
      "INVALID_ARGUMENTS",
      `${visible(file)} exists and was not generated, so it was not replaced`,
      { hint: `choose another name, or remove it: rm ${shellQuoted(file)}` },
    );
  }
  await writeTextFile(before, text);
  if (isProgram) await chmod(before.target, 0o755);
}
