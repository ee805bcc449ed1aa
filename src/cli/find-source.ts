// Finds the configuration that a command uses.

import { type ConfigSource, findConfig } from "../core/config/find.ts";
import type { CliContext } from "./context.ts";

/** Where the configuration comes from: `--config`, the environment, this directory or the home directory. */
export function findSource({ io, options }: Pick<CliContext, "io" | "options">): ConfigSource {
  const { env, cwd, homedir } = io;
  return findConfig({ flag: options.config, env, cwd, homedir });
}
