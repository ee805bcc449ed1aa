// Writes what is generated of the docs: `npm run docs`. With --check it writes nothing, and fails if
// something is out of date.
//
// Each module in scripts/docs/ makes one or more pieces. Its `generate()` returns them as a list of
//   { page, part, text }  the text between <!-- generated: part --> and <!-- /generated --> in that page
//   { file, text }        a whole file
// Paths are relative to the repository. Pages and files get the format that `npm run format` would give them.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { withPart } from "./page-part.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const modules = join(root, "scripts", "docs");
const isCheck = process.argv.includes("--check");

const outdated = [];
for (const [path, text] of await filesToWrite()) {
  const wanted = formatted(path, text);
  if (read(path) === wanted) continue;
  outdated.push(path);
  if (!isCheck) writeFileSync(join(root, path), wanted);
}

if (isCheck && outdated.length > 0) {
  console.error(`Out of date: ${outdated.join(", ")}. Run \`npm run docs\`.`);
  process.exitCode = 1;
} else if (!isCheck) {
  console.log(outdated.length > 0 ? `Written: ${outdated.join(", ")}.` : "Nothing has changed.");
}

/** By path, as they should be, before they are formatted. */
async function filesToWrite() {
  const files = new Map();
  for (const name of readdirSync(modules).filter((each) => each.endsWith(".mjs"))) {
    const { generate } = await import(pathToFileURL(join(modules, name)).href);
    for (const { page, part, file, text } of await generate()) {
      if (page === undefined) files.set(file, text);
      else files.set(page, withPart(files.get(page) ?? read(page), { page, part, text }));
    }
  }
  return files;
}

function formatted(path, text) {
  const manifest = createRequire(import.meta.url).resolve("oxfmt/package.json");
  const { bin } = JSON.parse(readFileSync(manifest, "utf8"));
  const program = join(dirname(manifest), bin.oxfmt ?? bin);
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [program, `--stdin-filepath=${path}`],
    { cwd: root, input: text, encoding: "utf8", maxBuffer: 2 ** 26 },
  );
  if (status !== 0) throw new Error(`${path} could not be formatted: ${stderr}`);
  return stdout;
}

function read(path) {
  const place = join(root, path);
  return existsSync(place) ? readFileSync(place, "utf8") : "";
}
