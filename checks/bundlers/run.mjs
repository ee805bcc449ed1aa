// `npm run e2e:bundlers`: the library in the bundles that people make of it, run where nothing else of it is.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isInstalled, npm } from "../lib/own-packages.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SERVER = join(ROOT, "test", "fixtures", "servers", "echo.mjs");
const MOST_BYTES = 50_000;

const PROGRAMS = [
  {
    name: "program",
    words: [process.execPath, SERVER],
    printed: '{"sum":{"sum":3},"gone":"SERVER_UNAVAILABLE"}\n',
  },
  { name: "one-error", words: [], printed: "TIMEOUT\n", most: MOST_BYTES },
];

/** Each makes one file of a program, or one and those that it loads, in a folder. */
const BUNDLERS = [
  { bundler: "esbuild", format: "esm", bundle: esbuild },
  { bundler: "esbuild", format: "cjs", bundle: esbuild },
  { bundler: "rolldown", format: "esm", bundle: rolldown },
  { bundler: "rolldown", format: "cjs", bundle: rolldown },
  { bundler: "webpack", format: "cjs", bundle: webpack },
];

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`bundlers: ${error.stack}\n`);
  process.exitCode = 2;
}

async function main() {
  const who = "bundlers";
  const install = ["install", "--no-save", "--no-audit", "--no-fund"];
  if (!isInstalled(HERE)) npm({ who, what: "installing the bundlers", cwd: HERE }, install);
  if (!process.argv.includes("--no-build")) {
    npm({ who, what: "building the project", cwd: ROOT }, ["run", "build"]);
  }
  let failed = 0;
  for (const { bundler, format, bundle } of BUNDLERS) {
    for (const program of PROGRAMS) {
      const problem = await tryOut(program, format, bundle);
      if (problem !== undefined) failed += 1;
      const verdict = problem === undefined ? "ok  " : "FAIL";
      const why = problem === undefined ? "" : `      ${problem}\n`;
      process.stdout.write(`${verdict}  ${bundler}, ${format}: ${program.name}\n${why}`);
    }
  }
  return failed === 0 ? 0 : 1;
}

/** What is wrong with the bundle of a program, if anything is. */
async function tryOut({ name, words, printed, most = Infinity }, format, bundle) {
  const fileName = format === "esm" ? "bundle.mjs" : "bundle.cjs";
  const folder = mkdtempSync(join(tmpdir(), "plugboard-bundle-"));
  try {
    await bundle(join(HERE, `${name}.mjs`), join(folder, fileName), format);
    const bytes = readdirSync(folder).reduce(
      (sum, each) => sum + statSync(join(folder, each)).size,
      0,
    );
    if (bytes > most) return `it has ${bytes} bytes, more than ${most}`;
    const output = execFileSync(process.execPath, [fileName, ...words], {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
    return output === printed ? undefined : `it prints ${output.trim()}`;
  } catch (error) {
    return String(error.stderr || error.message).trim();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function load(name) {
  return createRequire(join(HERE, "package.json"))(name);
}

async function esbuild(entry, outfile, format) {
  const options = { bundle: true, platform: "node", logLevel: "error" };
  await load("esbuild").build({ ...options, entryPoints: [entry], outfile, format });
}

async function rolldown(input, file, format) {
  const bundling = await (
    await import("rolldown")
  ).rolldown({
    input,
    platform: "node",
    logLevel: "silent",
  });
  // It may make files beside it that nothing loads.
  const { output } = await bundling.generate({ format, codeSplitting: false });
  await bundling.close();
  writeFileSync(file, output[0].code);
}

async function webpack(entry, file) {
  const output = { path: join(file, ".."), filename: "bundle.cjs" };
  await new Promise((resolve, reject) => {
    load("webpack")({ mode: "production", target: "node20", entry, output }, (error, stats) => {
      if (error || stats.hasErrors()) reject(error ?? new Error(stats.toString("errors-only")));
      else resolve();
    });
  });
}
