// Decides whether a configuration file is yours alone: then an edit of it needs no approval.

import { realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { placeOf } from "../../core/config/find.ts";
import { plugboardHome } from "../../core/config/home.ts";
import { otherWriters } from "../../core/state/state-directory.ts";
import { contains } from "../../util/contains.ts";
import type { CliIo } from "../io.ts";

/** Whether it is in Plugboard's home, and no link from or to somewhere else: nobody but you writes there. */
export async function isFileYours(
  file: string,
  io: Pick<CliIo, "env" | "homedir">,
): Promise<boolean> {
  return (await locateFile(file, io)).isYours;
}

/**
 * The file without links, and whether it is yours. Both the place that was named and the file there have to be in the
 * home: it also has files with words of others in it, such as saved results, and a link to one of those is easily made.
 */
export async function locateFile(
  file: string,
  { env, homedir }: Pick<CliIo, "env" | "homedir">,
): Promise<{ path: string; isYours: boolean }> {
  const place = placeOf(file);
  try {
    const home = await realpath(plugboardHome(env, homedir));
    const path = await realpath(place);
    const isInside = [place, path].every((each) => contains(home, each));
    const writable = isInside ? [path, dirname(path), dirname(place)] : [];
    const others = writable.some((each) => otherWriters(each, env) !== undefined);
    return { path, isYours: isInside && !others };
  } catch {
    // Whoever reads it says why it cannot be read.
    return { path: file, isYours: false };
  }
}
