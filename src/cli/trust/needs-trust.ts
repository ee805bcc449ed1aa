// Decides whether a configuration file may be used only if a person has approved it.

import type { ConfigSource } from "../../core/config/find.ts";
import { otherWriters } from "../../core/state/state-directory.ts";
import type { CliIo } from "../io.ts";

/**
 * A file in the working directory came with the directory. One in Plugboard's home is yours, unless somebody else
 * could have written it.
 */
export function needsTrust(source: ConfigSource, { env }: Pick<CliIo, "env">): boolean {
  if (source.kind !== "file") return false;
  if (source.from === "directory") return true;
  return source.from === "home" && otherWriters(source.path, env) !== undefined;
}
