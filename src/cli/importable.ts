// Whether there is something to import, for commands that find no servers of their own.

import { resolve } from "node:path";
import { findOtherFiles } from "../core/config/other-files.ts";
import type { CliContext } from "./context.ts";

/** The names of the other applications that have a server, which can be brought to a board without any. */
export async function importableFrom({ io }: CliContext): Promise<string[]> {
  const { env, cwd, homedir } = io;
  const around = { env, cwd: resolve(cwd), homedir, platform: process.platform };
  const files = await findOtherFiles(around);
  return [...new Set(files.flatMap(({ name, servers }) => (servers.size > 0 ? [name] : [])))];
}
