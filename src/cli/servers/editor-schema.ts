// The JSON Schema by which an editor completes and checks a configuration file: where it is, for the key `$schema` of a
// new file. It is never fetched from anywhere.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { FileSource } from "../../core/config/find.ts";
import { plugboardHome } from "../../core/config/home.ts";
import { readTextFile, writeTextFile } from "../../core/config/text/text-file.ts";
import type { CliContext } from "../context.ts";

const SCHEMA = "plugboard.schema.json";

/** Where a project has it, if Plugboard is one of its dependencies. It is the same for everybody who has the project. */
const INSTALLED = `node_modules/plugboard/${SCHEMA}`;

/**
 * The value of `$schema`, relative to the file, so that it is right for everybody who has the file and says nothing about
 * this machine. Undefined for a file that is neither the user's own nor in a project that has the package.
 */
export async function editorSchema(
  { path, from }: Pick<FileSource, "path" | "from">,
  context: CliContext,
): Promise<string | undefined> {
  const directory = dirname(path);
  if (from !== "home" && existsSync(join(directory, INSTALLED))) return `./${INSTALLED}`;
  const copy = copyOf(context);
  return dirname(copy) === directory && (await hasCopy(copy)) ? `./${SCHEMA}` : undefined;
}

/** After an update of Plugboard the copy is that of an older version. */
export async function renewEditorSchema(context: CliContext): Promise<void> {
  const copy = copyOf(context);
  if (existsSync(copy)) await hasCopy(copy);
}

function copyOf({ io }: CliContext): string {
  return join(plugboardHome(io.env, io.homedir), SCHEMA);
}

/** Writes it if it is not there, or is another one. Nothing but the help of an editor depends on it, so failures are values. */
async function hasCopy(path: string): Promise<boolean> {
  try {
    const text = await readFile(new URL(`../../../${SCHEMA}`, import.meta.url), "utf8");
    const copy = await readTextFile(path);
    if (copy.text !== text) await writeTextFile(copy, text);
    return true;
  } catch {
    return false;
  }
}
