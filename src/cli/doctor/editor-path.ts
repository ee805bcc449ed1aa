// The PATH that servers have in an application which was started from a desktop: `acp` and `serve` ask the login shell for it.

import type { Logger } from "../../core/types/logger.ts";
import { findLoginPath, loginShell } from "../login-path.ts";
import type { CliContext } from "../context.ts";
import type { CliIo } from "../io.ts";

export interface EditorPath {
  /** What a desktop passes on to the programs that it starts. */
  desktop: string;
  /** The same with the PATH of the login shell, which `acp` and `serve` add. */
  withShell: string;
  /** Absent where there is no shell to ask. */
  shell?: string;
  /** Why the shell gave no PATH. */
  problem?: string;
}

const DESKTOP: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: "/usr/bin:/bin:/usr/sbin:/sbin",
  linux: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
};

/**
 * The variables that a desktop has besides PATH. Variables that only a terminal sets must not help the shell to find
 * more than it would find there.
 */
const KEPT = ["HOME", "USER", "LOGNAME", "SHELL", "LANG", "TMPDIR", "XDG_CONFIG_HOME"];

/** Windows gives every program the same PATH. Does not reject. */
export async function findEditorPath(
  { io, clock, signal }: Pick<CliContext, "io" | "clock" | "signal">,
  platform: NodeJS.Platform = process.platform,
): Promise<EditorPath> {
  const desktop = DESKTOP[platform] ?? io.env["PATH"] ?? "";
  const env = desktopEnvironment(io.env, desktop);
  const shell = loginShell(env, platform)?.command;
  if (shell === undefined) return { desktop, withShell: desktop };
  let problem: string | undefined;
  const logger: Logger = {
    debug() {},
    info() {},
    error() {},
    warn: (message) => (problem = message),
  };
  const found = await findLoginPath({ env, platform, clock, logger, signal });
  return { desktop, withShell: found ?? desktop, shell, ...(problem !== undefined && { problem }) };
}

function desktopEnvironment(env: CliIo["env"], path: string): Record<string, string> {
  const kept = KEPT.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(kept), PATH: path };
}
