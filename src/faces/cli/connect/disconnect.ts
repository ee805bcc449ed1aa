// `plugboard connect --undo`: takes the board out of another application's file.

import { rm, rmdir } from "node:fs/promises";
import { plugboardHome } from "../../../config/home.ts";
import { readTextFile, type TextFile, writeTextFile } from "../../../config/text/text-file.ts";
import { PlugboardError } from "../../../model/errors.ts";
import { visible } from "../../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { offeredCommand } from "../offered-command.ts";
import { requireYes } from "../terminal/input.ts";
import { applicationOf, type ConnectedApplication } from "./applications.ts";
import type { ConnectOptions } from "./command.ts";
import { type Splice, withoutEntries } from "./entry-text.ts";
import { fileOf, ourEntries, valueOf } from "./found.ts";
import { changeLines } from "./preview.ts";
import { readBefore, readRecord, removeRecord } from "./record.ts";

export async function disconnect(command: ConnectOptions, context: CliContext): Promise<number> {
  const { io, screen } = context;
  const application = applicationOf(command.application);
  const file = await readTextFile(await fileOf(application, command.file, io));
  const home = plugboardHome(io.env, io.homedir);
  const record = await readRecord(home, file.target);
  const before = await readBefore(file, home);
  const isExact = before.text !== file.text && command.as === undefined;
  if (isExact && before.text === undefined) {
    screen.note(`${visible(file.file)} was made for this, and would be removed`);
    await requireYes("Remove it?", { yes: command.yes, what: "remove it" }, context);
    await rm(file.target);
    for (const directory of record?.directories.toReversed() ?? []) {
      // Somebody else may have put something into it.
      await rmdir(directory).catch(() => undefined);
    }
    await removeRecord(home, file.target);
    return reportUndone(application, file, "exact", context);
  }
  const { text, splices } = isExact
    ? { text: before.text ?? "", splices: undone(record?.splices ?? []) }
    : withoutOurs(application, command, file);
  if (text === file.text || file.text === undefined) {
    throw new PlugboardError("INVALID_ARGUMENTS", `the board is not in ${visible(file.file)}`, {
      hint: `to see what is connected: ${offeredCommand("connect", context.options)}`,
    });
  }
  screen.note(`${visible(file.file)} would change:`);
  for (const line of changeLines(file.text, splices)) screen.note(line);
  await requireYes("Write it?", { yes: command.yes, what: "write it" }, context);
  await writeTextFile(file, text);
  await removeRecord(home, file.target);
  return reportUndone(application, file, isExact ? "exact" : "entry", context);
}

/** The same change in the other direction. */
function undone(splices: readonly Splice[]): Splice[] {
  return splices
    .toReversed()
    .map(({ start, removed, added }) => ({ start, removed: added, added: removed }));
}

function withoutOurs(
  application: ConnectedApplication,
  { as }: ConnectOptions,
  file: TextFile,
): { text: string; splices: Splice[] } {
  const value = valueOf(application, file);
  const entries = ourEntries(application, value).filter(
    (entry) => as === undefined || entry.as === as,
  );
  return withoutEntries(application.syntax, file.text ?? "", entries, file.file);
}

function reportUndone(
  { id, name }: ConnectedApplication,
  { file }: TextFile,
  kind: "exact" | "entry",
  { screen, options }: CliContext,
): number {
  if (options.json) {
    screen.json({ application: id, file, changed: true, exact: kind === "exact" });
    return EXIT.ok;
  }
  screen.lines([
    kind === "exact"
      ? `disconnected ${name}: ${visible(file)} is what it was before`
      : `disconnected ${name}: only the board's own entry is gone from ${visible(file)}`,
  ]);
  return EXIT.ok;
}
