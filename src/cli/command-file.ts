// Where this command itself is, for processes that run it again.

import { fileURLToPath } from "node:url";

/** The compiled command, also when this module runs from its source. */
export function commandFile(): string {
  const here = import.meta.url;
  return fileURLToPath(new URL(here.endsWith(".ts") ? "../../dist/bin.cjs" : "../bin.cjs", here));
}
