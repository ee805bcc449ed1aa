// `plugboard connect --undo`: takes the board out of another application's file.

import { isDeepStrictEqual } from "node:util";
import { plugboardHome } from "../../core/config/home.ts";
import { readTextFile, type TextFile } from "../../core/config/text/text-file.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { offeredCommand } from "../offered-command.ts";
import type { ConnectedApplication, Entry } from "../../install/applications/applications.ts";
import { type Change, isChanged, makeChange, planChange } from "./change.ts";
import type { ConnectOptions } from "./command.ts";
import { fileOf, ourEntries, valueOf } from "../../install/applications/found.ts";

/** What taking the board out would do. Rejects with INVALID_ARGUMENTS where it is not in the file. */
export async function planDisconnection(
  command: Omit<ConnectOptions, "application">,
  application: ConnectedApplication,
  context: CliContext,
): Promise<{ change: Change; isExact: boolean }> {
  const { io } = context;
  const file = await readTextFile(await fileOf(application, command.file, io));
  const value = valueOf(application, file);
  const present = ourEntries(application, value);
  const isOwn = ({ path }: Entry): boolean =>
    present.some((own) => isDeepStrictEqual(own.path, path));
  const rest = [
    ...(application.kept?.(value) ?? []).filter((entry) => !isOwn(entry)),
    ...present.filter(({ as }) => command.as !== undefined && as !== command.as),
  ];
  const change = await planChange({
    application,
    file,
    home: plugboardHome(io.env, io.homedir),
    present,
    wanted: () => rest,
  });
  if (!isChanged(change)) {
    throw new PlugboardError("INVALID_ARGUMENTS", `the board is not in ${visible(file.file)}`, {
      hint: `to see what is connected: ${offeredCommand("connect", context.options)}`,
    });
  }
  return { change, isExact: change.isExact && rest.length === 0 };
}

export async function disconnect(
  command: Omit<ConnectOptions, "application">,
  application: ConnectedApplication,
  context: CliContext,
): Promise<number> {
  const { change, isExact } = await planDisconnection(command, application, context);
  await makeChange(change, { yes: command.yes }, context);
  for (const path of change.notBack) {
    context.screen.note(
      `${visible(String(path.at(-1)))} was moved onto the board, and is not put back, because the file has changed since; it is still on the board`,
    );
  }
  return reportUndone(application, change.file, isExact ? "exact" : "entry", context);
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
