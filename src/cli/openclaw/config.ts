// OpenClaw's own configuration, as `plugboard openclaw setup` finds it.

import { plugboardHome } from "../../core/config/home.ts";
import { readTextFile, type TextFile } from "../../core/config/text/text-file.ts";
import {
  applicationOf,
  type ConnectedApplication,
} from "../../install/applications/applications.ts";
import { fileOf, valueOf } from "../../install/applications/found.ts";
import type { CliContext } from "../context.ts";
import type { OpenclawRequest } from "./command.ts";

export interface FoundConfig {
  application: ConnectedApplication;
  file: TextFile;
  value: unknown;
  /** Plugboard's. */
  home: string;
}

/** Rejects with CONFIG_INVALID for a file that is not JSON5. */
export async function findConfig(
  { file: named, action }: OpenclawRequest,
  { io }: CliContext,
): Promise<FoundConfig> {
  const application = applicationOf("openclaw");
  const file = await readTextFile(await fileOf(application, named, io));
  const value = valueOf(application, file);
  if (action === "setup") application.refuse?.(file, value);
  return { application, file, value, home: plugboardHome(io.env, io.homedir) };
}
