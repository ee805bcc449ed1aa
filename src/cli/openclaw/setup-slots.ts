// `plugboard openclaw setup`: writes the slots into OpenClaw's file, and says how an editor uses them.

import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { parseAgentConfig } from "../../core/config/parse.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import type { JsonObject } from "../../core/types/json.ts";
import { slotEntry, slotsIn } from "../../openclaw/config-entries.ts";
import { readSlots, type Slot, type SlotFile, slotUrl, writeSlots } from "../../openclaw/slots.ts";
import { plural } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import { openclawEntry } from "../../install/applications/applications.ts";
import { boardStart } from "../connect/board-start.ts";
import { type Change, isChanged, makeChange, planChange } from "../connect/change.ts";
import { refuseForeign } from "../connect/connect.ts";
import { ourEntries } from "../../install/applications/found.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { offeredUndo } from "../offered-command.ts";
import { findSource } from "../find-source.ts";
import { checkOpenclaw, type Finding, linesOf, refuseProblem, showFindings } from "./checks.ts";
import type { OpenclawRequest } from "./command.ts";
import type { FoundConfig } from "./config.ts";
import { chooseSlots, slotsInUse } from "./slots.ts";

export async function setUpSlots(
  command: OpenclawRequest,
  { application, file, value, home }: FoundConfig,
  context: CliContext,
): Promise<number> {
  const isNamed = command.file !== undefined;
  const findings = await checkOpenclaw({ file, config: value, isNamed, wants: "slots" }, context);
  refuseProblem(findings, context);
  const listed = await readSlots(home).catch(ignoreDamaged);
  const present = slotsIn(value);
  const slots = await chooseSlots(
    { count: command.slots, basePort: command.basePort },
    { file: listed, configured: present.map(({ slot }) => slot) },
    randomBytes,
  );
  await refuseInUse([...(listed?.slots ?? []), ...present.map(({ slot }) => slot)], slots.slots);
  const entries = slots.slots.map((slot) => openclawEntry(slotEntry(slot)));
  refuseForeign(entries, present, value, file, application);
  const change = await planChange({
    application,
    file,
    home,
    present: present.map(openclawEntry),
    wanted: () => [...ourEntries(application, value), ...entries],
  });
  // Slots fill a screen, so what was found comes after them, next to the question.
  const notes = findings.flatMap(linesOf);
  if (isChanged(change)) await makeChange(change, { yes: command.yes, notes }, context);
  else showFindings(findings, context);
  // Behind the file: what is missing here is found in it by the next run.
  const isListed = isDeepStrictEqual(listed, slots);
  if (!isListed) await writeSlots(home, slots);
  const isNew = isChanged(change) || !isListed;
  return reportSlots({ change, slots, findings, isNew, named: command.file && file.file }, context);
}

function ignoreDamaged(error: unknown): undefined {
  if (!(error instanceof PlugboardError) || error.code !== "CONFIG_INVALID") throw error;
}

/** A session whose slot goes, or moves, would lose its servers. */
async function refuseInUse(before: readonly Slot[], after: readonly Slot[]): Promise<void> {
  const going = before.filter(
    ({ name, port }) => !after.some((slot) => slot.name === name && slot.port === port),
  );
  const [used] = await slotsInUse([...new Map(going.map((slot) => [slot.port, slot])).values()]);
  if (used === undefined) return;
  throw new PlugboardError(
    "INVALID_ARGUMENTS",
    `the slot ${used.name}, at port ${used.port}, is in use`,
    { hint: "close the sessions of your editor with OpenClaw first" },
  );
}

interface SlotsReport {
  change: Change;
  slots: SlotFile;
  findings: readonly Finding[];
  isNew: boolean;
  /** OpenClaw's file, if somebody has given it. */
  named: string | undefined;
}

async function reportSlots(
  { change, slots: { slots, basePort }, findings, isNew, named }: SlotsReport,
  context: CliContext,
): Promise<number> {
  const { screen, options } = context;
  const { file } = change.file;
  const agent = await agentEntry(named, context);
  if (options.json) {
    screen.json({
      application: "openclaw",
      file,
      changed: isNew,
      slots: slots.map((slot) => ({ name: slot.name, url: slotUrl(slot) })),
      findings,
      agent,
    });
    return EXIT.ok;
  }
  const ports =
    slots.length === 1
      ? `port ${basePort + 1}`
      : `the ports from ${basePort + 1} to ${basePort + slots.length}`;
  const what = `${plural(slots.length, "slot")} at ${ports}`;
  screen.lines([
    isNew
      ? `OpenClaw has ${what}: ${visible(file)}`
      : `nothing to do, OpenClaw has ${what} already: ${visible(file)}`,
    "Now let your editor start OpenClaw through Plugboard. In Zed's settings.json:",
    ...JSON.stringify({ agent_servers: { OpenClaw: { type: "custom", ...agent } } }, null, 2)
      .split("\n")
      .slice(1, -1),
    "docs/openclaw.md has the settings of other editors. To take it out again:",
    `  ${offeredUndo("openclaw setup", named)}`,
  ]);
  return EXIT.ok;
}

/** What says where OpenClaw's files are must be the same for the agent. */
const OPENCLAW_VARIABLES = ["OPENCLAW_CONFIG_PATH", "OPENCLAW_STATE_DIR", "OPENCLAW_HOME"];

async function agentEntry(file: string | undefined, context: CliContext): Promise<JsonObject> {
  const { env } = context.io;
  const nothing = parseAgentConfig({ servers: {} });
  const start = await boardStart(findSource(context), nothing, context);
  const variables = OPENCLAW_VARIABLES.flatMap((name) => {
    const value = env[name];
    return value ? [[name, value]] : [];
  });
  return {
    command: start.command,
    args: [...start.args, "acp", "--openclaw"],
    env: {
      ...start.env,
      ...(Object.fromEntries(variables) as Record<string, string>),
      ...(file !== undefined && { OPENCLAW_CONFIG_PATH: file }),
    },
  };
}
