// Whether a program can be started by its name alone.

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Environment } from "./environment.ts";

export function isOnPath(program: string, env: Environment, platform: string): boolean {
  const ends = platform === "win32" ? (env["PATHEXT"] ?? ".EXE;.CMD;.BAT").split(";") : [""];
  const directories = (env["PATH"] ?? env["Path"] ?? "").split(delimiter);
  return directories.some(
    (directory) =>
      directory !== "" && ends.some((end) => canRun(join(directory, `${program}${end}`))),
  );
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
