// The PATH that was handed down and the one of the person's shell, as one.

import { delimiter } from "node:path";

/** Where a system has its own programs: what a desktop hands down before any start file was read. */
const SYSTEM = new Set([
  "/usr/local/sbin",
  "/usr/local/bin",
  "/usr/sbin",
  "/usr/bin",
  "/sbin",
  "/bin",
  "/usr/games",
  "/usr/local/games",
  "/snap/bin",
]);

/**
 * Each directory once. A bare `inherited` is one that nobody chose, and the shell's goes first; in any
 * other somebody put something before the rest (a virtual environment, direnv), and it stays there.
 */
export function mergePath(inherited: string, shell: string): string {
  const own = inherited.split(delimiter).filter((directory) => directory !== "");
  const found = shell.split(delimiter).filter((directory) => directory !== "");
  const isBare = own.every((directory) => SYSTEM.has(directory));
  return [...new Set(isBare ? [...found, ...own] : [...own, ...found])].join(delimiter);
}
