// `plugboard pins`: shows pinned tool definitions and what changed since, approves and forgets them.

import {
  doublesOf,
  lostReason,
  lostRemedy,
  pendingParts,
  PinReview,
  pinsOf,
} from "../../core/board/pins.ts";
import { loadGateway } from "../../core/config/gateway.ts";
import { loadConfig } from "../../core/config/load.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import type { LostPins, PinEntry, ServerPins } from "../../core/types/pin.ts";
import type { ServerDefinition } from "../../core/types/server-definition.ts";
import { oneLine, plural, shellWord } from "../../util/text.ts";
import type { CliContext } from "../context.ts";
import { findSource } from "../find-source.ts";
import { EXIT } from "../exit-code.ts";
import { offeredCommand } from "../offered-command.ts";
import { withPinStores } from "../shared-state.ts";
import type { PinsRequest } from "./command.ts";
import {
  entriesOf,
  findTarget,
  nameWithKey,
  type KnownPins,
  nameOf,
  pendingOf,
  type Target,
} from "./target.ts";
import { pinJson, pinJsonInFull, pinPage, pinTable } from "./view.ts";

interface PinWork {
  review: Pick<PinReview, "approve" | "forget">;
  known: KnownPins;
  context: CliContext;
}

export async function runPins({ action }: PinsRequest, context: CliContext): Promise<number> {
  return withPinStores(context, (stores) => runAction(action, new PinReview(...stores), context));
}

async function runAction(
  action: PinsRequest["action"],
  review: PinReview,
  context: CliContext,
): Promise<number> {
  const [all, lost] = [await review.list(), await review.lost()];
  const agents = await configuredServers(context);
  const known = { all, configured: pinsOf(agents.flat(), all) };
  const work = { review, known, context };
  switch (action.kind) {
    case "list":
      listPins({ known, agents, lost, isWhole: action.all }, context);
      break;
    case "show":
      refuseLost(action.target, all, lost);
      showPins(action.target, known, context);
      break;
    case "approve":
      refuseLost(action.target, all, lost);
      await approvePins(findTarget(action.target, known), work);
      break;
    case "forget":
      // Nothing of an earlier server of that name is to be left behind.
      await forgetPins(
        findTarget(action.target, { all: [...all, ...lost.map(withoutPins)], configured: [] }),
        work,
      );
      break;
    case "forget-all":
      await forgetPins({ servers: [...all, ...lost.map(withoutPins)] }, work);
      break;
  }
  return EXIT.ok;
}

interface ListedPins {
  known: KnownPins;
  /** The servers of each agent that is configured here. */
  agents: readonly ServerDefinition[][];
  lost: readonly LostPins[];
  /** Also of servers that are not configured. */
  isWhole: boolean;
}

/** What waits for a person comes first. */
function listPins({ known, agents, lost, isWhole }: ListedPins, context: CliContext): void {
  const { screen, options } = context;
  const { all, configured } = known;
  const doubles = new Map(agents.flatMap((each) => [...doublesOf(each, all)]));
  const servers = isWhole || agents.length === 0 ? all : configured;
  const found = entriesOf({ servers });
  const entries = [...pendingOf(found), ...found.filter(({ pin }) => pin.kind === "pinned")];
  if (options.json) {
    return screen.json({
      pins: entries.map((each) => pinJson(each, doubles)),
      ...(lost.length > 0 && { lost }),
    });
  }
  screen.lines(pinTable(entries, known, doubles, screen.terminal.out));
  for (const each of lost) {
    screen.note(`${oneLine(each.server)}: ${lostReason(each)}; ${lostRemedy(each)}`);
  }
  if (all.length === 0 && lost.length === 0) screen.note("no tools are pinned yet");
  const hidden = all.length - servers.length;
  if (hidden > 0) {
    const whole = offeredCommand("pins list --all", options);
    screen.note(
      `left out: ${plural(hidden, "server")} that this configuration does not have, or not as they were (${whole})`,
    );
  }
  const waiting = pendingOf(entries);
  const [first] = waiting;
  if (first === undefined) return;
  const count = waiting.length === 1 ? "1 is" : `${waiting.length} are`;
  const command = offeredCommand(`pins show ${shellWord(nameOf(first, known))}`, options);
  screen.note(`${count} new or changed; to see how:\n  ${command}`);
}

/** The servers of each agent that is configured here; none where no configuration says which there are. */
async function configuredServers(context: CliContext): Promise<readonly ServerDefinition[][]> {
  const { cwd, homedir } = context.io;
  const source = findSource(context);
  if (source.kind !== "file") return [];
  const given = { cwd, homedir, base: source.base };
  try {
    const { agentIds } = await loadGateway(source.path, given);
    const agents = await Promise.all(agentIds.map((id) => loadConfig(source.path, id, given)));
    return agents.map(({ servers }) => servers);
  } catch {
    // Other commands say what is wrong with the file.
    return [];
  }
}

/** For a server, only what changed; for a tool, also an unchanged pin. */
function showPins(text: string, known: KnownPins, { screen, options }: CliContext): void {
  const target = findTarget(text, known);
  const entries = entriesOf(target);
  const shown = target.tool === undefined ? pendingOf(entries) : entries;
  if (options.json) return screen.json({ pins: shown.map(pinJsonInFull) });
  const { out } = screen.terminal;
  const isOne = shown.length === 1;
  screen.lines(
    shown.flatMap((each, at) => [...(at ? [""] : []), ...pinPage(each, known, out, isOne)]),
  );
  if (shown.length === 0) screen.note("nothing has changed");
  else if (pendingOf(shown).length > 0) {
    screen.note(`to approve it:\n  ${offeredCommand(`pins approve ${shellWord(text)}`, options)}`);
  }
}

function refuseLost(target: string, all: readonly ServerPins[], lost: readonly LostPins[]): void {
  const isMeant = ({ server }: { server: string }): boolean => server === target.split("/")[0];
  const found = lost.find(isMeant);
  // Another definition of that name may have its pins.
  if (found === undefined || all.some(isMeant)) return;
  const { server } = found;
  throw new PlugboardError("CHANGED_TOOL", `server '${server}': ${lostReason(found)}`, {
    server,
    hint: lostRemedy(found),
  });
}

/** Lost pins as a target that can be forgotten. */
function withoutPins({ server, key }: LostPins): ServerPins {
  const approved = { hash: "", value: "", seen: 0 };
  const instructions = { kind: "pinned", firstSeen: 0, approved } as const;
  return { server, key, seenWith: [], instructions, tools: new Map() };
}

export async function approvePins(
  target: Target,
  { review, known, context }: PinWork,
): Promise<void> {
  const { screen, options } = context;
  const waiting = pendingOf(entriesOf(target));
  refuseSeveral(waiting);
  const approved: PinEntry[] = [];
  for (const entry of waiting) {
    if (await review.approve(entry)) approved.push(entry);
    else screen.note(`${oneLine(nameOf(entry, known))} has just changed again: look at it first`);
  }
  if (options.json) return screen.json({ approved: approved.map(toJson) });
  screen.lines(
    approved.map((each) => {
      const parts = pendingParts(each).join(", ");
      return `approved ${oneLine(nameOf(each, known))}: ${parts}`;
    }),
  );
  if (waiting.length === 0) screen.note("there is nothing to approve");
}

async function forgetPins(target: Target, { review, known, context }: PinWork): Promise<void> {
  const { screen, options } = context;
  const { servers, tool } = target;
  const forgotten = entriesOf(target);
  for (const server of servers) await review.forget(server, tool);
  if (options.json) return screen.json({ forgotten: forgotten.map(toJson) });
  const names =
    tool === undefined
      ? servers.map(({ server }) => server)
      : forgotten.map((each) => nameOf(each, known));
  screen.lines(names.map((name) => `forgot ${oneLine(name)}`));
  if (names.length === 0) screen.note("there is nothing to forget");
}

/** Several servers can be pinned under one name, and approving one must not approve the others. */
function refuseSeveral(entries: readonly PinEntry[]): void {
  const servers = new Map(entries.map(({ pins }) => [pins.key, pins]));
  const [first, ...others] = servers.values();
  if (first === undefined || others.length === 0) return;
  const names = [first, ...others].map(nameWithKey).join(", ");
  const message = `several servers were pinned under the name '${first.server}'`;
  throw new PlugboardError("INVALID_ARGUMENTS", message, { hint: `name one of them: ${names}` });
}

function toJson(entry: PinEntry): object {
  const { server, key } = entry.pins;
  return { server, key, tool: entry.kind === "tool" ? entry.tool : null };
}
