// The PATH as the person knows it from a terminal: an editor that is started from a desktop hands down
// what the system has, and nvm, uv or Homebrew put theirs into the shell's start files.

import { spawn } from "node:child_process";
import { type Logger, silentLogger } from "../../model/logger.ts";
import { type Clock, systemClock } from "../../util/clock.ts";
import { exitGuard } from "./exit-guard.ts";
import { type LoginShell, loginShell, pathIn } from "./login-shell.ts";
import { mergePath } from "./merge-path.ts";
import { signalGroup } from "./signal.ts";

/** Set for the start files, which can leave out what takes long; and where it is set nothing is looked up. */
const RESOLVING = "PLUGBOARD_RESOLVING_ENVIRONMENT";
const TIME_LIMIT_MS = 10_000;
const MAX_OUTPUT = 1 << 20;

export interface LoginPathOptions {
  /** What was handed down. */
  env: NodeJS.ProcessEnv;
  platform?: NodeJS.Platform;
  clock?: Clock;
  logger?: Logger;
  /** Gives up: nobody needs it any more. */
  signal?: AbortSignal;
}

/** Resolves to `undefined` where what was handed down is all there is. Never rejects. */
export async function findLoginPath(options: LoginPathOptions): Promise<string | undefined> {
  const { env, platform = process.platform, logger = silentLogger, signal } = options;
  const shell = env[RESOLVING] === undefined ? loginShell(env, platform) : undefined;
  if (shell === undefined || signal?.aborted) return undefined;
  const answer = await ask(shell, options).catch(noAnswer);
  switch (answer.kind) {
    case "path":
      logger.debug("the login shell's PATH is used", { shell: shell.command, path: answer.path });
      return mergePath(env["PATH"] ?? "", answer.path);
    case "none":
      logger.warn(`the PATH of ${shell.command} is not known: ${answer.reason}`);
      return undefined;
    case "given-up":
      return undefined;
  }
}

type Answer =
  | { kind: "path"; path: string }
  | { kind: "none"; reason: string }
  | { kind: "given-up" };

/**
 * The group is ended whatever the answer: start files may leave something running in it. What left the
 * group, as an agent for keys does, was meant to stay, and gets no cookie to be reaped by.
 *
 * As when somebody closes a terminal, and never by SIGKILL: a start file that is in the middle of something
 * gets to put it right. pyenv, killed so, leaves a lock for which every later shell waits a minute.
 */
function ask(shell: LoginShell, options: LoginPathOptions): Promise<Answer> {
  const { env, platform = process.platform, clock = systemClock, signal } = options;
  return new Promise((resolve) => {
    const child = spawn(shell.command, shell.args, {
      env: { ...env, [RESOLVING]: "1" },
      // What a start file asks finds nobody, and without a terminal no shell stops for one.
      stdio: ["ignore", "pipe", "ignore"],
      detached: true,
    });
    // First of all: where the system is short of something there is not even a pipe.
    child.once("error", (error) => settle(noAnswer(error)));
    const { pid, stdout } = child;
    if (pid !== undefined) exitGuard.watch(pid, platform, hangUp);
    let isSettled = false;
    const settle = (answer: Answer): void => {
      // The group's number may be somebody else's by now.
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
      fail(`it did not say within ${TIME_LIMIT_MS / 1000} s`),
    );
    signal?.addEventListener("abort", giveUp, { once: true });
    let output = "";
    stdout.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
      const path = pathIn(output);
      if (path !== undefined) settle({ kind: "path", path });
      else if (output.length > MAX_OUTPUT) fail("its start files print too much");
    });
    // Not its exit: the rest of the output may still be in the pipe.
    child.once("close", () => fail("it ended without saying"));
  });
}

/** An interactive shell does not mind a SIGTERM; this it does. */
function hangUp(pid: number): void {
  signalGroup(pid, "SIGHUP");
}

function noAnswer(error: unknown): Answer {
  return { kind: "none", reason: error instanceof Error ? error.message : String(error) };
}
