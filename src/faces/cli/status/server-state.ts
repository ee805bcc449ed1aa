// A server's state in words: one for the table, a sign that works without colour, and what to do about it.

import type { ServerState, ServerStateKind } from "../../../model/server-state.ts";
import type { ServerStatus } from "../../../model/server-status.ts";
import { plainText } from "../../../util/text.ts";
import type { Tone } from "../terminal/paint.ts";
import type { Cell } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";

interface Look {
  word: string;
  tone: Tone;
  sign: string;
  plainSign: string;
}

const LOOKS: Readonly<Record<ServerStateKind, Look>> = {
  disabled: { word: "disabled", tone: "dim", sign: "○", plainSign: "-" },
  untrusted: { word: "untrusted", tone: "yellow", sign: "!", plainSign: "!" },
  idle: { word: "idle", tone: "dim", sign: "○", plainSign: "-" },
  starting: { word: "starting", tone: "yellow", sign: "◌", plainSign: "~" },
  ready: { word: "ready", tone: "green", sign: "✓", plainSign: "+" },
  backoff: { word: "restarting", tone: "yellow", sign: "↻", plainSign: "~" },
  "needs-auth": { word: "sign-in needed", tone: "yellow", sign: "!", plainSign: "!" },
  failed: { word: "failed", tone: "red", sign: "✗", plainSign: "x" },
  stopping: { word: "stopping", tone: "dim", sign: "○", plainSign: "-" },
  stopped: { word: "stopped", tone: "dim", sign: "○", plainSign: "-" },
};

/** `✓ ready` */
export function stateCell(state: ServerState, { unicode }: Terminal): Cell {
  const { word, tone, sign, plainSign } = LOOKS[state.kind];
  return { text: `${unicode ? sign : plainSign} ${word}`, tone };
}

/** Why it is not ready and what helps; empty where there is nothing to say. */
export function stateNotes(state: ServerState): string[] {
  switch (state.kind) {
    case "failed":
    case "backoff":
      return reason(state.error.message, state.error.hint);
    case "untrusted":
    case "needs-auth":
      return [state.remedy];
    case "starting":
      return ["it has not become ready in time and may still do so"];
    default:
      return [];
  }
}

/** Who could not be asked, and why. */
export function unavailableNotes(
  servers: readonly Pick<ServerStatus, "name" | "state">[],
): string[] {
  return servers.flatMap(({ name, state }) => {
    const [why, ...hints] = stateNotes(state).map((note) => plainText(note));
    return why === undefined ? [] : [`plugboard: ${name} is not available: ${why}`, ...hints];
  });
}

function reason(message: string, hint: string | undefined): string[] {
  return hint === undefined ? [message] : [message, `hint: ${hint}`];
}
