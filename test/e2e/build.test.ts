// scripts/build.mjs in a project of a few files, with a compiler and a bundler that only copy: when it builds, what it says, and
// what is there afterwards. Every other test of this folder is about what the real ones make.

import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, it } from "vitest";
import { temporaryDirectory } from "../support/directory.ts";

const SCRIPT = fileURLToPath(new URL("../../scripts/build.mjs", import.meta.url));

/** Writes what the sources say; fails where they have an error. */
const COMPILER = `
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
const text = readFileSync("src/index.ts", "utf8");
if (text.includes("type error")) process.exit(2);
const folder = process.argv[process.argv.indexOf("--outDir") + 1];
const write = (name, content) => writeFileSync(folder + "/" + name, content);
mkdirSync(folder + "/cli", { recursive: true });
write("index.js", text);
write("bin.cjs", text);
write("index.d.ts", 'export { used } from "./used.ts"; export declare const own: import("./also.ts").Also;');
for (const name of ["used", "also", "unused"]) write(name + ".d.ts", "export {};");
write("cli/describe-grammar.js", "export const describeGrammar = () => ({ name: 'plugboard' });");
`;

const BUNDLER = `
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
export async function bundlePackage({ modules, dist, entries, manifest }) {
  mkdirSync(dist);
  writeFileSync(dist + "/entries", [manifest.version, ...entries].join(" "));
  copyFileSync(modules + "/index.js", dist + "/entry.js");
  if (readFileSync(modules + "/index.js", "utf8").includes("bundle error")) throw new Error("cannot bundle");
}
export async function bundleOpenClawPlugin(root, file) {
  mkdirSync(file.replace(/index\\.js$/, ""), { recursive: true });
  writeFileSync(file, "plugin");
}
`;

const MANIFEST = {
  type: "module",
  version: "1.2.3",
  bin: { plugboard: "./dist/bin.cjs" },
  exports: {
    ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
    "./x.json": "./x.json",
  },
};

let root: string;

const path = (name: string): string => join(root, name);
const read = (name: string): string => readFileSync(path(name), "utf8");

function write(name: string, content: string | object): void {
  mkdirSync(dirname(path(name)), { recursive: true });
  writeFileSync(path(name), typeof content === "string" ? content : JSON.stringify(content));
}

beforeEach(() => {
  root = temporaryDirectory();
  write("scripts/bundle.mjs", BUNDLER);
  copyFileSync(SCRIPT, path("scripts/build.mjs"));
  write("node_modules/typescript/package.json", { name: "typescript", type: "module" });
  write("node_modules/typescript/bin/tsc", COMPILER);
  write("package.json", MANIFEST);
  for (const name of ["package-lock.json", "tsconfig.json", "tsconfig.build.json"]) write(name, {});
  for (const name of ["README.md", "openclaw.plugin.json", "package.json"]) {
    write(`src/openclaw/plugin/${name}`, name);
  }
  write("src/index.ts", "first");
});

interface Ended {
  status: number | null;
  stderr: string;
}

function build(...options: string[]): Ended {
  const words = [path("scripts/build.mjs"), ...options];
  const { status, stderr } = spawnSync(process.execPath, words, { cwd: root, encoding: "utf8" });
  return { status, stderr };
}

const IF_STALE = "--if-stale";
const SILENT = { status: 0, stderr: "" };
const BUILDING = "plugboard: building, this takes 5 to 20 s\n";

it("makes the entries, the types of the exports, the grammar and the plugin", () => {
  expect(build()).toEqual(SILENT);
  expect(readdirSync(path("dist")).toSorted()).toEqual([
    ".inputs",
    "also.d.ts",
    "bin.cjs",
    "entries",
    "entry.js",
    "grammar.json",
    "index.d.ts",
    "openclaw-plugin",
    "used.d.ts",
  ]);
  expect(read("dist/entries")).toBe("1.2.3 index.js entry.js cli/demo/server/server.js");
  expect(JSON.parse(read("dist/grammar.json"))).toEqual({ name: "plugboard" });
  expect(read("dist/openclaw-plugin/dist/index.js")).toBe("plugin");
  expect(read("dist/openclaw-plugin/openclaw.plugin.json")).toBe("openclaw.plugin.json");
  if (process.platform !== "win32") expect(statSync(path("dist/bin.cjs")).mode & 0o111).toBe(0o111);
});

it.each<[string, () => void, Ended]>([
  ["nothing has changed", () => {}, SILENT],
  ["a source has changed", () => write("src/index.ts", "second"), { status: 0, stderr: BUILDING }],
  ["a source is new", () => write("src/deep/new.ts", ""), { status: 0, stderr: BUILDING }],
  [
    "the version has",
    () => write("package.json", { ...MANIFEST, version: "2" }),
    { status: 0, stderr: BUILDING },
  ],
  [
    "the script has",
    () => write("scripts/bundle.mjs", `${BUNDLER}//`),
    { status: 0, stderr: BUILDING },
  ],
  [
    "the build is gone",
    () => rmSync(path("dist"), { recursive: true }),
    { status: 0, stderr: BUILDING },
  ],
])("with --if-stale, where %s", (_, change, expected) => {
  build();
  change();
  // A file of a former build: it is there until the next takes its place.
  write("dist/former.js", "");
  const isSilent = expected === SILENT;
  expect(build(IF_STALE)).toEqual(expected);
  expect(existsSync(path("dist/former.js"))).toBe(isSilent);
  expect(read("dist/bin.cjs")).toBe(read("src/index.ts"));
  expect(build(IF_STALE)).toEqual(SILENT);
});

it("without it, builds also where nothing has changed", () => {
  build();
  write("dist/former.js", "");
  expect(build()).toEqual(SILENT);
  expect(existsSync(path("dist/former.js"))).toBe(false);
});

it.each([
  ["type error", 2],
  ["bundle error", 1],
])("with a %s, leaves what works, and tries again the next time", (error, status) => {
  build();
  write("src/index.ts", error);
  for (const options of [[], [IF_STALE], [IF_STALE]]) {
    expect(build(...options).status).toBe(status);
    expect(read("dist/bin.cjs")).toBe("first");
    expect(read("dist/openclaw-plugin/dist/index.js")).toBe("plugin");
    expect(readdirSync(root).filter((name) => name.startsWith(".build"))).toEqual([]);
  }
});

it("removes what a build has left that was killed", () => {
  const { pid } = spawnSync(process.execPath, ["--version"]);
  write(`.build-${pid}/modules/index.js`, "");
  write(`.build-${process.pid}/modules/index.js`, "");
  build();
  const left = readdirSync(root).filter((name) => name.startsWith(".build"));
  expect(left).toEqual([`.build-${process.pid}`]);
});

it("without TypeScript, is content with less the more it is told to be", () => {
  const hint = "plugboard: TypeScript is not installed; run `npm ci` with dev dependencies first\n";
  rmSync(path("node_modules/typescript"), { recursive: true });
  expect(build()).toEqual({ status: 1, stderr: hint });
  expect(build(IF_STALE)).toEqual({ status: 1, stderr: hint });
  expect(build(IF_STALE, "--if-possible")).toEqual(SILENT);
  write("dist/bin.cjs", "former");
  expect(build(IF_STALE)).toEqual(SILENT);
  expect(read("dist/bin.cjs")).toBe("former");
});

it("neither it nor the other scripts import a path, which is no URL on Windows", () => {
  const scripts = fileURLToPath(new URL("../../scripts/", import.meta.url));
  const imported = readdirSync(scripts)
    .filter((name) => name.endsWith(".mjs"))
    .flatMap((name) => [...readFileSync(join(scripts, name), "utf8").matchAll(/ import\((.*)\)/g)])
    .map(([, what = ""]) => what);
  expect(imported.length).toBeGreaterThan(1);
  expect(imported.filter((what) => !/^"|\.href$/.test(what))).toEqual([]);
});
