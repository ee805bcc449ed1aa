// A name as part of a command that somebody will paste into a shell. A tool's name is its server's choice.

import { oneLine } from "../../util/text.ts";

export function shellWord(name: string): string {
  const line = oneLine(name);
  return /^[\w@./-]+$/.test(line) ? line : `'${line.replaceAll("'", "'\\''")}'`;
}
