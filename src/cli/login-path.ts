// Finds the PATH that the user has in a terminal. An editor that was started from a desktop passes on the
// system's PATH only, while nvm, uv and Homebrew add theirs in the start files of the user's shell.

import { spawn } from "node:child_process";
import { userInfo } from "node:os";
import { delimiter, posix } from "node:path";
import { type Logger, silentLogger } from "../core/types/logger.ts";
import { type Clock, systemClock } from "../util/clock.ts";
import { errorMessage } from "../util/error-message.ts";
import { exitGuard } from "../util/exit-guard.ts";
import { signalGroup } from "../util/signal.ts";

/**
 * Set while the shell runs, so that start files can skip what takes long. Where it is set already, this
 * process was itself started by such a file, and looks nothing up.
 */
const RESOLVING = "PLUGBOARD_RESOLVING_ENVIRONMENT";
const TIME_LIMIT_MS = 10_000;
const MAX_OUTPUT = 1 << 20;
/** Long enough for a fork to be done, too short for the group's number to be reused. */
const HANG_UP_AGAIN_MS = 100;
const MAX_HANG_UPS = 20;

export interface LoginPathOptions {
  /** The environment that was inherited. */
  env: NodeJS.ProcessEnv;
  platform?: NodeJS.Platform;
  clock?: Clock;
  logger?: Logger;
  /** Gives up when nobody needs the answer any more. */
  signal?: AbortSignal;
}

/** Resolves to `undefined` where the inherited PATH is all there is. Never rejects. */
export async function findLoginPath(options: LoginPathOptions): Promise<string | undefined> {
  const { env, platform = process.platform, logger = silentLogger, signal } = options;
  const shell = env[RESOLVING] === undefined ? loginShell(env, platform) : undefined;
  if (shell === undefined || signal?.aborted) return undefined;
  const answer = await askShell(shell, options).catch(noAnswer);
  switch (answer.kind) {
    case "path":
      logger.debug("using the login shell's PATH", { shell: shell.command, path: answer.path });
      return mergePath(env["PATH"] ?? "", answer.path);
    case "none":
      logger.warn(`could not get the PATH of ${shell.command}: ${answer.reason}`);
      return undefined;
    case "given-up":
      return undefined;
  }
}

export interface LoginShell {
  command: string;
  args: string[];
}

/** Start files may print anything: the PATH is between the last pair of these marks. */
const BEGIN = "<plugboard-path>";
const END = "</plugboard-path>";

/**
 * One line that means the same in every shell, fish and csh included. sh prints the answer, because in fish
 * PATH is a list until it is exported. `exec` keeps the shell from running its logout files.
 */
const QUESTION = `exec /bin/sh -c 'printf "%s" "${BEGIN}$PATH${END}"'`;

/** The shells of accounts that nobody logs in to. */
const NO_SHELL = /^(nologin|false|true|sync)$/;
/** These take `-l` only by itself; without it they still read the file where people set their PATH. */
const C_SHELL = /^t?csh$/;

/** `undefined` where there is no shell to ask, as on Windows. */
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
  // nvm and similar tools use the files of interactive shells, Homebrew those of login shells.
  const flags = C_SHELL.test(name) ? ["-i"] : ["-l", "-i"];
  return { command, args: [...flags, "-c", QUESTION] };
}

function shellOfUser(): string | undefined {
  try {
    return userInfo().shell ?? undefined;
  } catch {
    // Some containers have no entry for their user.
    return undefined;
  }
}

type Answer =
  | { kind: "path"; path: string }
  | { kind: "none"; reason: string }
  | { kind: "given-up" };

/**
 * Ends the shell's process group whatever the answer, because start files may leave something running in
 * it. What left the group, such as an SSH agent, was meant to stay; it carries no cookie, so that nothing
 * reaps it later.
 *
 * Sends SIGHUP, as closing a terminal does, and never SIGKILL: pyenv, killed in the middle of its start
 * file, leaves a lock behind for which every later shell waits a minute.
 */
function askShell(shell: LoginShell, options: LoginPathOptions): Promise<Answer> {
  const { env, clock = systemClock, signal } = options;
  return new Promise((resolve) => {
    const child = spawn(shell.command, shell.args, {
      env: { ...env, [RESOLVING]: "1" },
      // A start file that asks something gets no answer; and without a terminal no shell stops for one.
      stdio: ["ignore", "pipe", "ignore"],
      detached: true,
    });
    // Must come first: where the system is out of resources there is not even a pipe.
    child.once("error", (error) => settle(noAnswer(error)));
    const { pid, stdout } = child;
    if (pid !== undefined) exitGuard.watch(pid, (group) => hangUp(group));
    let isSettled = false;
    const settle = (answer: Answer): void => {
      // A signal much later could hit a stranger: the group's number may have been reused.
      if (isSettled) return;
      isSettled = true;
      timer.cancel();
      signal?.removeEventListener("abort", giveUp);
      if (pid !== undefined) {
        hangUp(pid);
        exitGuard.release(pid);
      }
      stdout.destroy();
      resolve(answer);
    };
    const giveUp = (): void => settle({ kind: "given-up" });
    const fail = (reason: string): void => settle({ kind: "none", reason });
    const timer = clock.after(TIME_LIMIT_MS, () =>
      fail(`it did not answer within ${TIME_LIMIT_MS / 1000} s`),
    );
    signal?.addEventListener("abort", giveUp, { once: true });
    let output = "";
    stdout.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
      const path = pathIn(output);
      if (path !== undefined) settle({ kind: "path", path });
      else if (output.length > MAX_OUTPUT) fail("its start files print too much");
    });
    // Not "exit": the rest of the output may still be in the pipe then.
    child.once("close", () => fail("it ended without an answer"));
  });
}

/**
 * Interactive shells ignore SIGTERM, but not this. A process that the shell is just forking can miss it, so it
 * is sent again while the group is there: in real time, since the system's forks do not follow a given clock.
 */
function hangUp(pid: number, sent = 1): void {
  if (signalGroup(pid, "SIGHUP") !== "sent" || sent === MAX_HANG_UPS) return;
  systemClock.later(HANG_UP_AGAIN_MS, () => hangUp(pid, sent + 1));
}

function noAnswer(error: unknown): Answer {
  return { kind: "none", reason: errorMessage(error) };
}

/** `undefined` while the answer is not complete. */
export function pathIn(output: string): string | undefined {
  const end = output.lastIndexOf(END);
  const begin = output.lastIndexOf(BEGIN, end);
  if (end === -1 || begin === -1) return undefined;
  return output.slice(begin + BEGIN.length, end);
}

/** Where the system keeps its own programs: a desktop passes on these before any start file was read. */
const SYSTEM_DIRECTORIES = new Set([
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
 * Both paths as one, each directory once. If the inherited PATH has system directories only, nobody chose
 * it, and the shell's goes first. Otherwise somebody put something before the rest (a virtual environment,
 * direnv), and it stays first.
 */
export function mergePath(inherited: string, shell: string): string {
  const own = inherited.split(delimiter).filter((directory) => directory !== "");
  const found = shell.split(delimiter).filter((directory) => directory !== "");
  return [...new Set(isSystemPath(inherited) ? [...found, ...own] : [...own, ...found])].join(
    delimiter,
  );
}

/** Whether a PATH is what a desktop passes on: nobody has added anything to the system's own directories. */
export function isSystemPath(path = ""): boolean {
  return path
    .split(delimiter)
    .every((directory) => directory === "" || SYSTEM_DIRECTORIES.has(directory));
}
