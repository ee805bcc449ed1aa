// A server's state for people: a word with a sign that works without colour, and why it is
// not ready and what to do about it.

import type { PlugboardError } from "../../core/types/errors.ts";
import type { ServerState, ServerStateKind } from "../../core/types/server-state.ts";
import type { ServerStatus } from "../../core/types/server-status.ts";
import { plainText, plural, withoutName } from "../../util/text.ts";
import type { GlobalOptions } from "../context.ts";
import { moreLine } from "../error-lines.ts";
import { commandsApart, offeredCommand } from "../offered-command.ts";
import type { Cell } from "../terminal/table.ts";
import type { Terminal, Tone } from "../terminal/terminal.ts";

type Given = Pick<GlobalOptions, "config" | "agent" | "typed">;

interface StateLook {
  word: string;
  tone: Tone;
  sign: string;
  plainSign: string;
}

const LOOKS: Readonly<Record<ServerStateKind, StateLook>> = {
  disabled: { word: "disabled", tone: "dim", sign: "○", plainSign: "-" },
  untrusted: { word: "untrusted", tone: "yellow", sign: "!", plainSign: "!" },
  idle: { word: "idle", tone: "dim", sign: "○", plainSign: "-" },
  starting: { word: "starting", tone: "yellow", sign: "◌", plainSign: "~" },
  ready: { word: "ready", tone: "green", sign: "✓", plainSign: "+" },
  backoff: { word: "restarting", tone: "yellow", sign: "↻", plainSign: "~" },
  "needs-auth": { word: "sign-in required", tone: "yellow", sign: "!", plainSign: "!" },
  failed: { word: "failed", tone: "red", sign: "✗", plainSign: "x" },
  stopping: { word: "stopping", tone: "dim", sign: "○", plainSign: "-" },
  stopped: { word: "stopped", tone: "dim", sign: "○", plainSign: "-" },
};

const FOR_EACH: StateLook = { word: "for each person", tone: "dim", sign: "○", plainSign: "-" };

/** Whether people have it for themselves, and it waits for none of them here. */
export function isForEach(state: ServerState): boolean {
  return state.kind === "needs-auth" && state.perUser !== undefined;
}

/** `✓ ready` */
export function stateCell(state: ServerState, { unicode }: Terminal): Cell {
  const { word, tone, sign, plainSign } = isForEach(state) ? FOR_EACH : LOOKS[state.kind];
  const isRefused = state.kind === "needs-auth" && !isForEach(state) && !wantsSignIn(state);
  return { text: `${unicode ? sign : plainSign} ${isRefused ? "access refused" : word}`, tone };
}

/** Where there is no sign-in, the credentials in the configuration are missing or wrong. */
export function wantsSignIn(state: ServerState): boolean {
  return state.kind === "needs-auth" && state.remedy.includes("plugboard login ");
}

/** Why it is not ready and what helps; empty for a state that needs no explanation. */
export function stateNotes(state: ServerState, options: Given): string[] {
  switch (state.kind) {
    case "failed":
      return [
        ...errorNotes(state.error, options),
        ...(state.remedy === undefined ? [] : commandsApart(state.remedy, options)),
      ];
    case "backoff":
      return errorNotes(state.error, options);
    case "needs-auth":
      return [
        ...(state.perUser === "sign-in" ? ["each person signs in for themselves"] : []),
        ...commandsApart(state.remedy, options),
      ];
    case "untrusted":
      return commandsApart(state.remedy, options);
    case "stopped":
      return state.remedy === undefined
        ? []
        : ["somebody has stopped it", ...commandsApart(state.remedy, options)];
    case "starting":
      return state.installer === undefined
        ? ["still starting; it did not become ready in time"]
        : [`${state.installer} is still installing it`];
    default:
      return [];
  }
}

/** Where to read more about why it is not ready. */
export function stateMore(state: ServerState): string[] {
  return state.kind === "failed" || state.kind === "backoff" ? [moreLine(state.error.code)] : [];
}

/** The reasons of more servers would bury what was asked for. */
const MOST_REASONS = 3;
const MOST_NAMES = 10;

/** Which servers could not be asked, and why. What a file would start that is not trusted has been told before. */
export function unavailableNotes(
  servers: readonly Pick<ServerStatus, "name" | "state">[],
  options: Given,
): string[] {
  const unavailable = servers.filter(
    ({ state }) => state.kind !== "untrusted" && stateNotes(state, options).length > 0,
  );
  if (unavailable.length > MOST_REASONS) {
    const names = unavailable.slice(0, MOST_NAMES).map(({ name }) => name);
    const more = unavailable.length - names.length;
    const list = [...names, ...(more > 0 ? [`${more} more`] : [])].join(", ");
    return [
      `plugboard: ${plural(unavailable.length, "server")} are not available: ${list}`,
      "to see why:",
      `  ${offeredCommand("doctor", options)}`,
    ];
  }
  const isSkipped = (state: ServerState): boolean => state.kind === "failed" && !!state.earlier;
  const notes = unavailable.flatMap(({ name, state }) => {
    const [why, ...hints] = stateNotes(state, options).map((note) => plainText(note));
    if (why === undefined) return [];
    const note = `plugboard: ${name} is not available: ${withoutName(why, name)}`;
    // The command that tried it gave the hints, and so does the one below.
    return isSkipped(state) ? [note] : [note, ...hints, ...stateMore(state)];
  });
  if (!servers.some(({ state }) => isSkipped(state))) return notes;
  return [...notes, "to try again now:", `  ${offeredCommand("status", options)}`];
}

function errorNotes({ message, hint }: PlugboardError, options: Given): string[] {
  return hint === undefined ? [message] : [message, ...commandsApart(`hint: ${hint}`, options)];
}
