// The `openclaw` on PATH: whether it is there, and which version it is.

import { execFile } from "node:child_process";
import type { Environment } from "../../util/environment.ts";
import { isOnPath } from "../../util/on-path.ts";
import { oneLine } from "../../util/text.ts";

export type OpenclawProgram =
  | { kind: "absent" }
  | { kind: "found"; version: string }
  /** It does not say which version it is. */
  | { kind: "failed"; reason: string };

const TIME_LIMIT_MS = 20_000;
const MOST_BYTES = 64 * 1024;

/** Never rejects. */
export async function findProgram(env: Environment, signal: AbortSignal): Promise<OpenclawProgram> {
  const { platform } = process;
  if (!isOnPath("openclaw", env, platform)) return { kind: "absent" };
  return new Promise((resolve) => {
    execFile(
      "openclaw",
      ["--version"],
      {
        env: { ...env },
        timeout: TIME_LIMIT_MS,
        maxBuffer: MOST_BYTES,
        signal,
        windowsHide: true,
        // npm installs a .cmd there, which only a shell can start.
        shell: platform === "win32",
      },
      (error, stdout, stderr) => {
        const version = /\b\d{4}\.\d+\.\d+\b/.exec(stdout)?.[0];
        if (error === null && version !== undefined) resolve({ kind: "found", version });
        else resolve({ kind: "failed", reason: reasonOf(error, stderr || stdout) });
      },
    );
  });
}

function reasonOf(error: Error | null, said: string): string {
  const line = said.split("\n").find((each) => each.trim() !== "");
  if (line !== undefined) return oneLine(line, 200);
  return error === null ? "it names no version" : oneLine(error.message, 200);
}
