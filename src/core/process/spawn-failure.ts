// Explains why a command could not be started, in words you can act on. It investigates only after the
// failure, so a start that works costs nothing extra.

import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { PlugboardError } from "../types/errors.ts";
import { closest } from "../../util/closest.ts";
import { errorCode } from "../../util/error-code.ts";
import { errorMessage } from "../../util/error-message.ts";
import { type ChildEnvironment, readVariable } from "./environment.ts";

export interface FailedSpawn {
  command: string;
  cwd: string | undefined;
  /** The child's environment: its PATH is the one that counts. */
  env: ChildEnvironment;
  platform: NodeJS.Platform;
  server: string | undefined;
}

/** The machine is short of something, perhaps only for a moment. */
const SHORTAGES: ReadonlyMap<unknown, string> = new Map([
  ["EAGAIN", "too many processes are running"],
  ["EMFILE", "this process has too many files open"],
  ["ENFILE", "the system has too many files open"],
  ["ENOMEM", "the system is out of memory"],
]);

const INSTALLERS: ReadonlyMap<string, string> = new Map([
  ["uv", "uv"],
  ["uvx", "uv"],
  ["node", "Node.js"],
  ["npm", "Node.js"],
  ["npx", "Node.js"],
  ["python", "Python"],
  ["python3", "Python"],
  ["pipx", "pipx"],
  ["docker", "Docker"],
  ["podman", "Podman"],
  ["deno", "Deno"],
  ["bun", "Bun"],
  ["bunx", "Bun"],
]);

export async function explainSpawnFailure(
  error: unknown,
  spawn: FailedSpawn,
): Promise<PlugboardError> {
  const code = errorCode(error);
  const shortage = SHORTAGES.get(code);
  const { message, hint, detail }: SpawnProblem =
    shortage === undefined
      ? ((await directoryProblem(spawn.cwd)) ?? (await commandProblem(error, code, spawn)))
      : {
          message: `cannot start '${spawn.command}': ${shortage}`,
          hint: "close programs that you do not need, or raise the limit",
        };
  return new PlugboardError("SPAWN_FAILED", message, {
    cause: detail === undefined ? error : new Error(detail, { cause: error }),
    hint,
    permanent: shortage === undefined,
    server: spawn.server,
  });
}

interface SpawnProblem {
  message: string;
  hint: string;
  /** What only somebody who looks closer wants to read. */
  detail?: string;
}

const DIRECTORY_PROBLEMS: Partial<Record<PathKind, SpawnProblem>> = {
  missing: { message: "does not exist", hint: "create it, or set 'cwd' to another one" },
  file: { message: "is not a directory", hint: "set 'cwd' to a directory" },
  program: { message: "is not a directory", hint: "set 'cwd' to a directory" },
  other: { message: "is not a directory", hint: "set 'cwd' to a directory" },
  closed: { message: "cannot be entered", hint: "allow access to it, or choose another 'cwd'" },
};

/** The system reports a missing working directory as if the command were missing. */
async function directoryProblem(cwd: string | undefined): Promise<SpawnProblem | undefined> {
  const problem = cwd === undefined ? undefined : DIRECTORY_PROBLEMS[await look(cwd)];
  return problem && { ...problem, message: `working directory '${cwd}' ${problem.message}` };
}

async function commandProblem(
  error: unknown,
  code: unknown,
  { command, cwd, env, platform }: FailedSpawn,
): Promise<SpawnProblem> {
  const path = readVariable(env, "PATH", platform) ?? "";
  const bare = isBare(command);
  const seen = new Map<PathKind, string>();
  for (const full of placesOf(command, path, cwd)) {
    const sight = await look(full);
    if (!seen.has(sight)) seen.set(sight, full);
  }
  const program = seen.get("program");
  const file = seen.get("file");
  if (program !== undefined && code === "ENOENT") {
    return {
      message: `command '${command}' exists (${program}), but the program that its first line names does not`,
      hint: "install the interpreter after '#!', or name one as 'command' with the script in 'args'",
    };
  }
  if (program === undefined && file !== undefined) {
    return {
      message: `command '${command}' is not executable (${file})`,
      hint: `run: chmod +x '${file}'`,
    };
  }
  if (program === undefined && !bare && seen.has("other")) {
    return { message: `command '${command}' is not a file`, hint: "name a program" };
  }
  if (program === undefined && !bare && seen.has("directory")) {
    return { message: `command '${command}' is a directory`, hint: "name the program inside it" };
  }
  if (program === undefined && code === "ENOENT") {
    const split = await splitCommand(command, path, cwd);
    if (split !== undefined) return split;
    return bare
      ? {
          message: `command '${command}' was not found on PATH`,
          hint: await absenceHint(command, path, cwd),
          detail: `PATH is ${path}`,
        }
      : {
          message: `command '${command}' does not exist`,
          hint: `correct the path${isAbsolute(command) ? "" : `; it is taken from ${resolve(cwd ?? ".")}`}`,
        };
  }
  const reason = errorMessage(error);
  return {
    message: `cannot start '${command}': ${reason}`,
    hint: "check 'command', 'args', 'env' and 'cwd'",
  };
}

/** A longer PATH would bury what to do. */
const LONGEST_PATH = 160;

async function absenceHint(
  command: string,
  path: string,
  cwd: string | undefined,
): Promise<string> {
  const install = `install ${INSTALLERS.get(command) ?? "it"} or give an absolute path`;
  const where = path.length > LONGEST_PATH ? "" : `; PATH is ${path === "" ? "empty" : path}`;
  const runners: string[] = [];
  for (const each of INSTALLERS.keys()) {
    const found = await Promise.all(placesOf(each, path, cwd).map(look));
    if (found.includes("program")) runners.push(each);
  }
  const meant = INSTALLERS.has(command) ? undefined : closest(command, runners);
  return meant === undefined
    ? `${install}${where}`
    : `did you mean '${meant}'? Otherwise ${install}${where}`;
}

/** A name without a directory is looked up on PATH. */
function isBare(command: string): boolean {
  return !/[/\\]/.test(command);
}

function placesOf(command: string, path: string, cwd = "."): string[] {
  const places = isBare(command)
    ? path.split(delimiter).map((place) => join(place, command))
    : [command];
  return places.map((place) => resolve(cwd, place));
}

/** Somebody may have written a whole command line. */
async function splitCommand(
  line: string,
  path: string,
  cwd: string | undefined,
): Promise<SpawnProblem | undefined> {
  // The path of a program can have a space in it, too.
  const ends = [...line.matchAll(/\s+/g)].slice(0, MOST_SPACES).map(({ index }) => index);
  for (const end of ends) {
    const command = line.slice(0, end);
    const found = await Promise.all(placesOf(command, path, cwd).map(look));
    if (!found.includes("program")) continue;
    const args = line.slice(end).match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
    const bare = args.map((each) => each.replace(/^(["'])(.*)\1$/, "$2"));
    return {
      message: `command '${line}' contains arguments; Plugboard uses no shell, so they belong in "args"`,
      hint: `set "command": ${JSON.stringify(command)}, "args": ${JSON.stringify(bare)}`,
    };
  }
  return undefined;
}

/** Each of them is looked up on the disk. */
const MOST_SPACES = 20;

/** What is neither a directory nor a file, such as a device, is other. */
type PathKind = "missing" | "closed" | "directory" | "other" | "file" | "program";

async function look(path: string): Promise<PathKind> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) return found.code === "EACCES" ? "closed" : "missing";
  const usable = await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (found.isDirectory()) return usable ? "directory" : "closed";
  if (!found.isFile()) return "other";
  return usable ? "program" : "file";
}
