// Which shell a person has, and how it is asked for the PATH that its start files make.

import { userInfo } from "node:os";
import { posix } from "node:path";

export interface LoginShell {
  command: string;
  args: string[];
}

/** Start files print what they like: the PATH is what stands between the last of these. */
const BEGIN = "<plugboard-path>";
const END = "</plugboard-path>";

/**
 * One line that means the same in every shell, fish and csh included: sh is what prints, so that a PATH
 * that is a list has become text. `exec`, so that no file is run at the shell's end.
 */
const QUESTION = `exec /bin/sh -c 'printf "%s" "${BEGIN}$PATH${END}"'`;

/** Accounts that nobody signs in to have one of these. */
const NO_SHELL = /^(nologin|false|true|sync)$/;
/** These take `-l` only by itself; what they read without it is where people set their PATH. */
const C_SHELL = /^t?csh$/;

/** `undefined` where there is none to ask, as on Windows. */
export function loginShell(
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform,
  userShell: () => string | undefined = shellOfUser,
): LoginShell | undefined {
  if (platform === "win32") return undefined;
  const command = env["SHELL"] || userShell();
  if (command === undefined || !posix.isAbsolute(command)) return undefined;
  const name = posix.basename(command);
  if (NO_SHELL.test(name)) return undefined;
  // nvm and its like are in files for interactive shells, Homebrew in those for login shells.
  const flags = C_SHELL.test(name) ? ["-i"] : ["-l", "-i"];
  return { command, args: [...flags, "-c", QUESTION] };
}

/** `undefined` while the answer is not whole. */
export function pathIn(output: string): string | undefined {
  const end = output.lastIndexOf(END);
  const begin = output.lastIndexOf(BEGIN, end);
  if (end === -1 || begin === -1) return undefined;
  return output.slice(begin + BEGIN.length, end);
}

function shellOfUser(): string | undefined {
  try {
    return userInfo().shell ?? undefined;
  } catch {
    // No entry for this user, as in some containers.
    return undefined;
  }
}
