// Keeps a change of a configuration file for `plugboard undo`.

import { plugboardHome } from "../../core/config/home.ts";
import { reasonOf } from "../../util/system-problem.ts";
import type { CliContext } from "../context.ts";
import { type KeptChange, UndoList } from "./undo-list.ts";

/** The changes that can be undone. */
export function undoList({ io, clock }: Pick<CliContext, "io" | "clock">): UndoList {
  return new UndoList(plugboardHome(io.env, io.homedir), clock);
}

/** Never rejects: the file is written by then. */
export async function keepChange(
  change: Pick<KeptChange, "what" | "file" | "before" | "after">,
  context: CliContext,
): Promise<void> {
  const { clock, commandName, logger } = context;
  try {
    const given = { ...change, at: clock.now(), command: commandName };
    const dropped = await undoList(context).add(given);
    if (!dropped.some(({ before = "" }) => before.includes("bundles"))) return;
    const { removeUnusedBundles } = await import("./bundles.ts");
    await removeUnusedBundles({ path: change.file }, context);
  } catch (error) {
    logger.warn(`this change cannot be undone with plugboard undo: ${reasonOf(error)}`);
  }
}
