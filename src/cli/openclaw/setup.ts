// `plugboard openclaw setup`: writes into OpenClaw's file what Plugboard needs there, or takes it out again.

import { rm } from "node:fs/promises";
import { PlugboardError } from "../../core/types/errors.ts";
import { slotsIn } from "../../openclaw/config-entries.ts";
import { slotsFile } from "../../openclaw/slots.ts";
import { pathExists } from "../../util/path-exists.ts";
import { visible } from "../../util/visible.ts";
import { openclawEntry } from "../../install/applications/applications.ts";
import { isChanged, makeChange, planChange } from "../connect/change.ts";
import { disconnect } from "../connect/disconnect.ts";
import { ourEntries } from "../../install/applications/found.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import type { OpenclawRequest } from "./command.ts";
import { findConfig, type FoundConfig } from "./config.ts";
import { setUpShared } from "./setup-shared.ts";
import { setUpSlots } from "./setup-slots.ts";
import { slotsInUse } from "./slots.ts";

export async function runOpenclaw(command: OpenclawRequest, context: CliContext): Promise<number> {
  const { action, shared } = command;
  const found = await findConfig(command, context);
  if (action === "undo") {
    return shared === undefined
      ? takeOut(command, found, context)
      : disconnect(command, found.application, context);
  }
  return shared === undefined
    ? setUpSlots(command, found, context)
    : setUpShared(command, shared, found, context);
}

async function takeOut(
  { yes }: OpenclawRequest,
  { application, file, value, home }: FoundConfig,
  context: CliContext,
): Promise<number> {
  const { screen, options } = context;
  const slots = slotsIn(value);
  const change = await planChange({
    application,
    file,
    home,
    present: [...ourEntries(application, value), ...slots.map(openclawEntry)],
    wanted: () => [],
  });
  const list = slotsFile(home);
  if (!isChanged(change) && !(await pathExists(list))) {
    throw new PlugboardError(
      "INVALID_ARGUMENTS",
      `nothing of Plugboard is in ${visible(file.file)}`,
      { hint: "if OpenClaw has another file, name it: --file <file>" },
    );
  }
  const used = await slotsInUse(slots.map(({ slot }) => slot));
  for (const { name } of used) screen.note(`${name} is in use: its session loses its servers`);
  await makeChange(change, { yes }, context);
  await rm(list, { force: true });
  if (options.json) {
    screen.json({
      application: application.id,
      file: file.file,
      changed: isChanged(change),
      exact: change.isExact,
    });
    return EXIT.ok;
  }
  screen.lines([
    change.isExact
      ? `taken out: ${visible(file.file)} is what it was before`
      : `taken out: only Plugboard's own entries are gone from ${visible(file.file)}`,
  ]);
  return EXIT.ok;
}
