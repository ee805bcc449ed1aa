// Asking a container engine: one short command, its output, and never longer than allowed.

import { execFile } from "node:child_process";
import type { Clock } from "../../util/clock.ts";
import type { Environment } from "./environment.ts";

/** docker or podman as its server calls it: options and environment may name another daemon. */
export interface Engine {
  command: string;
  globals: readonly string[];
  env: Environment;
  cwd?: string | undefined;
}

export interface EngineAnswer {
  ok: boolean;
  stdout: string;
}

/** Never rejects, and takes hardly longer than `ms`. */
export function runEngine(
  { command, globals, env, cwd }: Engine,
  args: readonly string[],
  ms: number,
  clock: Clock,
): Promise<EngineAnswer> {
  const failed: EngineAnswer = { ok: false, stdout: "" };
  const answer = new Promise<EngineAnswer>((resolve) => {
    const options = { env, windowsHide: true, ...(cwd === undefined ? {} : { cwd }) };
    const child = execFile(command, [...globals, ...args], options, (error, stdout) => {
      timer.cancel();
      resolve({ ok: error === null, stdout });
    });
    const timer = clock.after(ms, () => {
      child.kill("SIGKILL");
      // A process below it may hold the pipes open, and then the callback would never come.
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve(failed);
    });
  });
  return answer.catch(() => failed);
}

/** The ids in the output of `ps -q --no-trunc`; warnings among them are passed over. */
export function idsIn(stdout: string): string[] {
  return stdout
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /^[0-9a-f]{12,64}$/.test(line));
}
