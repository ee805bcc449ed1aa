// Where Plugboard keeps its files in the user's home directory.

import { join, resolve } from "node:path";
import type { Environment } from "../../util/environment.ts";
import { expandHome } from "../../util/home-path.ts";

/** Where Plugboard keeps its files: `$PLUGBOARD_HOME`, else `~/.plugboard`. */
export function plugboardHome(env: Environment, homedir: string): string {
  const configured = env["PLUGBOARD_HOME"];
  return configured ? resolve(expandHome(configured, homedir)) : join(homedir, ".plugboard");
}
