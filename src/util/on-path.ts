// Where the system finds a program by its name alone.

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Environment } from "./environment.ts";

/** Undefined if no directory of PATH has it. */
export function findOnPath(
  program: string,
  env: Environment,
  platform: string,
): string | undefined {
  const ends = platform === "win32" ? (env["PATHEXT"] ?? ".EXE;.CMD;.BAT").split(";") : [""];
  for (const directory of (env["PATH"] ?? env["Path"] ?? "").split(delimiter)) {
    if (directory === "") continue;
    const paths = ends.map((end) => join(directory, `${program}${end}`));
    const found = paths.find(canRun);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function isOnPath(program: string, env: Environment, platform: string): boolean {
  return findOnPath(program, env, platform) !== undefined;
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
