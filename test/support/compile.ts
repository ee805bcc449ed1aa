// Compiles modules for processes outside of the test runner, with the dependencies in reach.

import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

export interface Compiled {
  /** The URL of the compiled `src/`. */
  modules: string;
  remove(): Promise<void>;
}

const OPTIONS =
  "--ignoreConfig --noCheck --rewriteRelativeImportExtensions --verbatimModuleSyntax " +
  "--module nodenext --target es2023 --types node --rootDir src";

/** `entries` are paths of sources; what they import comes along. */
export async function compile(...entries: string[]): Promise<Compiled> {
  const directory = await mkdtemp(join(tmpdir(), "plugboard-compiled-"));
  const output = ["--outDir", join(directory, "dist")];
  const args = ["node_modules/typescript/bin/tsc", ...OPTIONS.split(" "), ...output, ...entries];
  await promisify(execFile)(process.execPath, args);
  await writeFile(join(directory, "package.json"), '{ "type": "module", "version": "0.0.0" }');
  await symlink(resolve("node_modules"), join(directory, "node_modules"));
  return {
    modules: pathToFileURL(join(directory, "dist")).href,
    remove: () => rm(directory, { recursive: true }),
  };
}
