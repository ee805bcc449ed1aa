// Which file a server is from, in the words of a table. Empty where there is only one file.

import { relative, sep } from "node:path";
import type { ServerStatus } from "../../core/types/server-status.ts";
import type { CliIo } from "../io.ts";

type Directories = Pick<CliIo, "cwd" | "homedir">;

export function fileName({ from }: Pick<ServerStatus, "from">, where: Directories): string {
  return from === undefined ? "" : shortPath(from.file, where);
}

export function hidingNotes({ from }: Pick<ServerStatus, "from">, where: Directories): string[] {
  return from?.hides === undefined
    ? []
    : [`hides the server of this name in ${shortPath(from.hides, where)}`];
}

/** `plugboard.json`, `~/.plugboard/plugboard.json` */
export function shortPath(path: string, { cwd, homedir }: Directories): string {
  const inside = (directory: string): string | undefined => {
    const way = relative(directory, path);
    return way.startsWith("..") || way === path ? undefined : way;
  };
  const atHome = inside(homedir);
  return inside(cwd) ?? (atHome === undefined ? path : ["~", atHome].join(sep));
}
