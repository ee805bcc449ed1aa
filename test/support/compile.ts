// Compiles modules for processes outside of the test runner, with the dependencies in reach. What the modules import is put
// into few files: Node takes long to load many.

import { mkdtemp, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { removeDirectory } from "./directory.ts";

export interface Compiled {
  /** The URL of the compiled `src/`. */
  modules: string;
  remove(): Promise<void>;
}

const MANIFEST = { version: "0.0.0", engines: { node: ">=20" } };

/** `names` are the modules that the process imports: `core/state/lock`. */
export async function compile(...names: string[]): Promise<Compiled> {
  const directory = await mkdtemp(join(tmpdir(), "plugboard-compiled-"));
  await writeFile(join(directory, "package.json"), '{ "type": "module" }');
  await symlink(resolve("node_modules"), join(directory, "node_modules"));
  await using bundling = await rolldown({
    input: Object.fromEntries(names.map((name) => [name, `src/${name}.ts`])),
    platform: "node",
    external: /^[^./]/,
    transform: { define: { PLUGBOARD_MANIFEST: JSON.stringify(MANIFEST) } },
  });
  const dir = join(directory, "dist");
  await bundling.write({ dir, entryFileNames: "[name].js", chunkFileNames: "shared/[hash].js" });
  return { modules: pathToFileURL(dir).href, remove: () => removeDirectory(directory) };
}
