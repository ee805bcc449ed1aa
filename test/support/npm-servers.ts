// The servers from npm that tests start, by `npx` (bin/npx) or themselves, each bundled into few files: Node takes twice as long to load
// the hundreds that they are made of.

import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const modules = fileURLToPath(new URL("../../node_modules/", import.meta.url));
/** Where bin/npx looks for them. `npm ci` removes it with everything else there. */
const bundles = join(modules, ".cache", "npm-servers");

let bundled: Promise<unknown> | undefined;

/** The program of one, bundled: `server-everything`. */
export async function npmServer(name: string): Promise<string> {
  await bundleNpmServers();
  return join(bundles, name, "dist", "index.js");
}

/** To be awaited before `npx` is used; otherwise that starts the servers as they are. */
export function bundleNpmServers(): Promise<unknown> {
  bundled ??= Promise.all(
    ["server-everything", "server-filesystem", "server-memory"].map((name) => bundle(name)),
  );
  return bundled;
}

async function bundle(name: string): Promise<void> {
  const source = join(modules, "@modelcontextprotocol", name);
  const target = join(bundles, name);
  if (changed(target) > changed(join(source, "package.json"))) return;
  mkdirSync(bundles, { recursive: true });
  const made = mkdtempSync(`${target}-`);
  await using bundling = await rolldown({
    input: join(source, "dist", "index.js"),
    platform: "node",
  });
  await bundling.write({ dir: join(made, "dist"), minify: true });
  // What server-everything reads from beside its modules.
  const docs = join(source, "dist", "docs");
  if (existsSync(docs)) cpSync(docs, join(made, "docs"), { recursive: true });
  // Another worker may have made it meanwhile, and may use it.
  if (changed(target) > 0) rmSync(target, { recursive: true, force: true });
  try {
    renameSync(made, target);
  } catch {
    rmSync(made, { recursive: true, force: true });
  }
}

/** When it was, or 0 for what does not exist. */
function changed(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
