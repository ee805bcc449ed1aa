// `plugboard openclaw setup`: writes into OpenClaw's file what Plugboard needs there, or takes it out again.

import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { plugboardHome } from "../../../config/home.ts";
import { parseAgentConfig } from "../../../config/parse.ts";
import { readTextFile, type TextFile } from "../../../config/text/text-file.ts";
import { PlugboardError } from "../../../model/errors.ts";
import type { JsonObject } from "../../../model/json.ts";
import {
  agentsIn,
  denialsExcept,
  sharedEntry,
  slotEntry,
  slotsIn,
} from "../../../openclaw/config-entries.ts";
import {
  readSlots,
  type Slot,
  type SlotFile,
  slotsFile,
  slotUrl,
  writeSlots,
} from "../../../openclaw/slots.ts";
import { openFileState } from "../../../state/files/open.ts";
import { pathExists } from "../../../util/path-exists.ts";
import { closest } from "../../../util/closest.ts";
import { oneLine, plural } from "../../../util/text.ts";
import { visible } from "../../../util/visible.ts";
import { runningGateway } from "../attach/find-channel.ts";
import {
  applicationOf,
  type ConnectedApplication,
  type Entry,
  openclawEntry,
} from "../connect/applications.ts";
import { boardStart } from "../connect/board-start.ts";
import { type Change, makeChange, planChange } from "../connect/change.ts";
import { connect, refuseForeign } from "../connect/connect.ts";
import { disconnect } from "../connect/disconnect.ts";
import { fileOf, ourEntries, valueOf } from "../connect/found.ts";
import { refuseIncluded } from "../connect/included.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { offeredUndo } from "../offered-command.ts";
import { findSource } from "../open.ts";
import { checkOpenclaw, type Finding } from "./checks.ts";
import type { OpenclawCommand, SharedOptions } from "./command.ts";
import { chooseSlots, slotsInUse } from "./slots.ts";

export async function runOpenclaw(command: OpenclawCommand, context: CliContext): Promise<number> {
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

/** OpenClaw's configuration as it is now. */
interface FoundConfig {
  application: ConnectedApplication;
  file: TextFile;
  value: unknown;
  /** Plugboard's. */
  home: string;
}

/** Rejects with CONFIG_INVALID for a file that is not JSON5. */
async function findConfig(
  { file: named, action }: OpenclawCommand,
  { io }: CliContext,
): Promise<FoundConfig> {
  const application = applicationOf("openclaw");
  const file = await readTextFile(await fileOf(application, named, io));
  const value = valueOf(application, file);
  if (action === "setup") application.refuse?.(file, value);
  return { application, file, value, home: plugboardHome(io.env, io.homedir) };
}

// Slots

async function setUpSlots(
  command: OpenclawCommand,
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

function isChanged({ outcome }: Change): boolean {
  return outcome.kind !== "same";
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

// The entry that all sessions share

async function setUpShared(
  command: OpenclawCommand,
  shared: SharedOptions,
  found: FoundConfig,
  context: CliContext,
): Promise<number> {
  const { file, value } = found;
  if (shared.agents.length > 0) {
    refuseIncluded(file, value, ["agents", "entries"]);
    checkAgents(shared.agents, value, file);
  }
  const isNamed = command.file !== undefined;
  const findings = await checkOpenclaw({ file, config: value, isNamed, wants: "shared" }, context);
  refuseProblem(findings, context);
  showFindings(findings, context);
  const application = withAgents(found.application, shared.agents);
  if (shared.url === undefined) return connect(command, application, context, { findings });
  const { target, notes } = await gatewayTarget(shared, context);
  return writeGateway({ ...found, application }, { target, notes, findings }, command, context);
}

/** With rules for the other agents, in place of those that the file has; without agents, those stay. */
function withAgents(
  application: ConnectedApplication,
  agents: readonly string[],
): ConnectedApplication {
  if (agents.length === 0) return application;
  return {
    ...application,
    entries: (start, value) => [
      ...application.entries(start, value),
      ...denialsExcept(value, agents).map(openclawEntry),
    ],
    kept: (value) => slotsIn(value).map(openclawEntry),
  };
}

function checkAgents(agents: readonly string[], value: unknown, { file }: TextFile): void {
  const known = agentsIn(value).map(({ id }) => id);
  const unknown = agents.find((agent) => !known.includes(agent));
  if (unknown === undefined) return;
  const near = closest(unknown, known);
  const names = known.map((id) => oneLine(id, 100)).join(", ");
  throw new PlugboardError(
    "INVALID_ARGUMENTS",
    `OpenClaw has no agent '${oneLine(unknown, 100)}' in ${visible(file)}`,
    {
      hint:
        near === undefined
          ? known.length === 0
            ? "it names no agents under agents.entries, so all that it does is done by one; leave out --for"
            : `its agents are ${names}`
          : `did you mean '${near}'?`,
    },
  );
}

interface GatewayTarget {
  target: JsonObject;
  notes: string[];
}

/** Where OpenClaw reaches the gateway, and with which token. */
async function gatewayTarget(
  { url: given, tokenEnv }: SharedOptions,
  context: CliContext,
): Promise<GatewayTarget> {
  const { io, options, clock } = context;
  const running = await runningGateway(findSource(context), context);
  const path =
    options.agent === undefined ? "/mcp" : `/agents/${encodeURIComponent(options.agent)}/mcp`;
  const own = running?.url === undefined ? undefined : `${running.url}${path}`;
  const url = given === true ? own : checkedUrl(given);
  if (url === undefined) {
    throw new PlugboardError("SERVER_UNAVAILABLE", "no gateway runs for this configuration", {
      hint: "start one, and leave it running: plugboard up",
    });
  }
  if (tokenEnv !== undefined) {
    return {
      target: { url, headers: { Authorization: `Bearer \${${tokenEnv}}` } },
      notes: [
        `OpenClaw reads the token from ${tokenEnv}: set it where its gateway starts, such as in ~/.openclaw/.env`,
      ],
    };
  }
  if (running?.url === undefined || new URL(running.url).origin !== new URL(url).origin) {
    return {
      target: { url },
      notes: [
        `The entry has no token. If ${url} needs one, give the variable that has it: --token-env <name>`,
      ],
    };
  }
  const { tokens } = openFileState(plugboardHome(io.env, io.homedir), { clock });
  const token = await tokens.ensureDefault();
  return {
    target: { url, headers: { Authorization: `Bearer ${token}` } },
    notes: [
      "The entry has the gateway's token. A token of its own, which you can revoke alone, is better where others read the",
      "file: plugboard tokens add openclaw, and give it with --token-env <name>",
    ],
  };
}

function checkedUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const isWeb = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (isWeb && new URL(text).pathname.endsWith("/mcp")) return text;
  throw new PlugboardError(
    "INVALID_ARGUMENTS",
    `'${oneLine(text, 200)}' is not the address of a gateway`,
    {
      hint: "expected one such as http://127.0.0.1:7584/mcp or https://gateway.example.com/agents/coder/mcp",
    },
  );
}

async function writeGateway(
  { application, file, value, home }: FoundConfig,
  { target, notes, findings }: GatewayTarget & { findings: readonly Finding[] },
  { yes, file: named }: OpenclawCommand,
  context: CliContext,
): Promise<number> {
  const { screen, options } = context;
  const present = ourEntries(application, value);
  const shared = openclawEntry(sharedEntry(target));
  refuseForeign([shared], present, value, file, application);
  const start = { command: "", args: [], env: {}, variables: [] };
  const rules = (without: unknown): Entry[] =>
    application.entries(start, without).filter(({ value: entry }) => typeof entry === "string");
  const change = await planChange({
    application,
    file,
    home,
    present,
    wanted: (without) => [...(application.kept?.(value) ?? []), shared, ...rules(without)],
  });
  await makeChange(change, { yes, notes }, context);
  if (options.json) {
    const denied = change.wanted.filter(({ value: entry }) => typeof entry === "string");
    screen.json({
      application: application.id,
      file: file.file,
      changed: isChanged(change),
      url: target["url"],
      rules: denied.map(({ path, value: entry }) => ({ path, value: entry })),
      findings,
    });
    return EXIT.ok;
  }
  screen.lines([
    isChanged(change)
      ? `OpenClaw has the gateway ${String(target["url"])}: ${visible(file.file)}`
      : `nothing to do, OpenClaw has the gateway already: ${visible(file.file)}`,
    "It has the tools in its next session; openclaw mcp probe plugboard tries them now. To take it out again:",
    `  ${offeredUndo("openclaw setup", named && file.file)}`,
  ]);
  return EXIT.ok;
}

// Taking it out

async function takeOut(
  { yes }: OpenclawCommand,
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

// Findings

/** Throws UNSUPPORTED if one of them is a problem, and then says the others. */
function refuseProblem(findings: readonly Finding[], context: CliContext): void {
  const problem = findings.find(({ state }) => state === "problem");
  if (problem === undefined) return;
  showFindings(
    findings.filter((finding) => finding !== problem),
    context,
  );
  throw new PlugboardError("UNSUPPORTED", problem.message, { hint: problem.remedy });
}

function showFindings(findings: readonly Finding[], { screen }: CliContext): void {
  for (const line of findings.flatMap(linesOf)) screen.note(line);
}

function linesOf({ state, message, remedy }: Finding): string[] {
  return [`${state}: ${message}`, ...(remedy === undefined ? [] : [`  ${remedy}`])];
}
