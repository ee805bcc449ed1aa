// Compiles src/ to dist/, and puts the modules of the command and of the library together. Where TypeScript is absent (an install without dev dependencies) there is
// nothing to build with and, in a published package, nothing to build: --if-possible says so and goes on.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
const bin = join(dist, "bin.js");

if (process.argv.includes("--if-missing") && existsSync(bin)) process.exit(0);

const tsc = findTypeScript();
if (tsc === undefined) {
  if (process.argv.includes("--if-possible")) process.exit(0);
  console.error("plugboard: TypeScript is not installed; run `npm ci` with dev dependencies first");
  process.exit(1);
}
rmSync(dist, { recursive: true, force: true });
const built = spawnSync(process.execPath, [tsc, "-p", join(root, "tsconfig.build.json")], {
  stdio: "inherit",
});
if (built.status !== 0) process.exit(built.status ?? 1);
// Loaded here, since an install without dev dependencies does not have the bundler either.
const { bundleCommand, bundleLibrary } = await import("./bundle.mjs");
await bundleCommand(dist);
await writeGrammar();
await bundleLibrary(dist, createRequire(import.meta.url)("../package.json").exports);
const { bundleOpenClawPlugin } = await import("./bundle-openclaw-plugin.mjs");
await bundleOpenClawPlugin();
chmodSync(bin, 0o755);

/** What completing a word goes by: the commands as they describe themselves. */
async function writeGrammar() {
  const folder = join(dist, "cli");
  const { describeGrammar } = await import(join(folder, "describe-grammar.js"));
  writeFileSync(
    join(folder, "completion", "grammar.json"),
    JSON.stringify(await describeGrammar()),
  );
}

function findTypeScript() {
  try {
    const manifest = createRequire(import.meta.url).resolve("typescript/package.json");
    const entry = join(dirname(manifest), "bin", "tsc");
    return existsSync(entry) ? entry : undefined;
  } catch {
    return undefined;
  }
}
