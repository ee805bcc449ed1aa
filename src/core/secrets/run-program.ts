// Starts the programs that give secrets: helpers, `op`, `gcloud`. Without a shell, with bounds on time and output, and
// nothing of them is left when the answer is there.

import { type ChildProcess, spawn } from "node:child_process";
import { cancelled } from "../types/errors.ts";
import type { ProgramOptions, ProgramResult, RunProgram } from "../types/secret-provider.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import type { Environment } from "../../util/environment.ts";
import { hasErrorCode } from "../../util/error-code.ts";
import { errorMessage } from "../../util/error-message.ts";
import { exitGuard } from "../../util/exit-guard.ts";
import { signalGroup, signalProcess } from "../../util/signal.ts";
import { plainText } from "../../util/text.ts";

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;
/** How long a program that has ended may hold its output open. */
const DRAIN_MS = 250;
/** How much of the end of stderr is kept. */
const MAX_STDERR = 4000;

export interface RunOptions {
  env: Environment;
  /** The PATH for programs, instead of the one in `env`. Must not reject. */
  path?: Promise<string | undefined> | undefined;
  platform?: NodeJS.Platform;
  clock: Clock;
}

export function programRunner({ env, path, platform, clock }: RunOptions): RunProgram {
  return async (command, args, options) => {
    const found = await path;
    const { signal } = options;
    if (signal.aborted) throw cancelled();
    const ambient = { ...env, ...(found !== undefined && { PATH: found }), ...options.env };
    return run(command, args, { ...options, env: ambient, clock, platform });
  };
}

interface Running extends ProgramOptions {
  env: Environment;
  clock: Clock;
  platform: NodeJS.Platform | undefined;
}

async function run(
  command: string,
  args: readonly string[],
  options: Running,
): Promise<ProgramResult> {
  const { signal, clock, input, timeout = TIMEOUT_MS, maxBytes = MAX_BYTES } = options;
  const { platform = process.platform } = options;
  // There are none on Windows.
  const ownGroup = options.keepsTerminal !== true && platform !== "win32";
  let child: ChildProcess;
  try {
    child = await launch(command, args, ownGroup, options);
  } catch (error) {
    return notStarted(error);
  }
  return new Promise((resolve, reject) => {
    const { pid, stdin, stdout, stderr } = child;
    const kill = (): void => {
      if (pid === undefined) return;
      if (ownGroup) signalGroup(pid, "SIGKILL");
      else if (child.exitCode === null) signalProcess(pid, "SIGKILL");
    };
    if (pid !== undefined) exitGuard.watch(pid, kill);
    let isSettled = false;
    let drain: Timer | undefined;
    const settle = (tell: () => void): void => {
      if (isSettled) return;
      isSettled = true;
      timer.cancel();
      drain?.cancel();
      signal.removeEventListener("abort", giveUp);
      // Also after a proper end: a helper may have left something running in its group.
      kill();
      if (pid !== undefined) exitGuard.release(pid);
      // A process below it may hold the pipes open, and they would keep this process alive.
      for (const stream of [stdin, stdout, stderr]) stream?.destroy();
      tell();
    };
    const end = (result: ProgramResult): void => settle(() => resolve(result));
    const giveUp = (): void => settle(() => reject(cancelled()));
    const timer = clock.after(timeout, () => end({ kind: "too-late", ms: timeout }));
    signal.addEventListener("abort", giveUp, { once: true });

    const chunks: Buffer[] = [];
    let size = 0;
    stdout?.on("data", (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > maxBytes) end({ kind: "too-large", bytes: maxBytes });
    });
    let said = "";
    stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      said = (said + chunk).slice(-MAX_STDERR);
    });
    child.once("error", (error) => end(notStarted(error)));
    const exited = (code: number | null): void =>
      end({ kind: "exited", code, stdout: Buffer.concat(chunks), stderr: plainText(said).trim() });
    child.once("close", exited);
    // The rest of the output may still be in the pipe; and a daemon that it has started may hold the pipe open for ever.
    child.once("exit", (code) => {
      drain = clock.after(DRAIN_MS, () => exited(code));
    });
    // A program that does not read its stdin is no failure.
    stdin?.on("error", () => {});
    stdin?.end(input ?? "");
  });
}

async function launch(
  command: string,
  args: readonly string[],
  detached: boolean,
  { env, platform = process.platform }: Running,
): Promise<ChildProcess> {
  const options = { env: { ...env }, stdio: "pipe", windowsHide: true } as const;
  if (platform !== "win32") return spawn(command, [...args], { ...options, detached });
  // Windows needs it for scripts that stand for programs (gcloud.cmd). Loading it is slow, so only there.
  const { default: crossSpawn } = await import("cross-spawn");
  return crossSpawn.spawn(command, [...args], options);
}

function notStarted(error: unknown): ProgramResult {
  if (hasErrorCode(error, "ENOENT")) return { kind: "not-found" };
  if (hasErrorCode(error, "EACCES")) {
    return { kind: "failed", reason: "the program is not executable" };
  }
  return { kind: "failed", reason: errorMessage(error) };
}
