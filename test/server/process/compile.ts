// Compiles the modules under test for a host that runs outside of the test runner: in a process that
// can be killed.

import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

export interface Compiled {
  /** URL of the directory with the compiled `start-process.ts`. */
  modules: string;
  remove(): Promise<void>;
}

const OPTIONS =
  "--ignoreConfig --noCheck --rewriteRelativeImportExtensions --verbatimModuleSyntax " +
  "--module nodenext --target es2023 --types node --rootDir src";

export async function compileModules(): Promise<Compiled> {
  const directory = await mkdtemp(join(tmpdir(), "plugboard-compiled-"));
  const args = ["node_modules/typescript/bin/tsc", ...OPTIONS.split(" "), "--outDir", directory];
  await promisify(execFile)(process.execPath, [...args, "src/server/process/start-process.ts"]);
  await writeFile(join(directory, "package.json"), '{ "type": "module" }');
  return {
    modules: pathToFileURL(join(directory, "server/process")).href,
    remove: () => rm(directory, { recursive: true }),
  };
}
