// The texts about tools that differ from their pins: for the log and the status, and for a caller whose call is
// refused.

import type { Diagnostic } from "../../model/diagnostic.ts";
import { PlugboardError } from "../../model/errors.ts";
import type { PinMode } from "../../model/guard-settings.ts";
import type { FieldChange } from "../../model/pin.ts";
import { oneLine, plural, shellWord } from "../../util/text.ts";
import { changedParts, diffText, diffTools } from "./diff.ts";
import type { PinChange } from "./pin.ts";

/** A server that renames all its tools must not fill the log. */
const MOST_DIAGNOSTICS = 20;
/** Characters shown of each side of a change. */
const SHORT = 120;

/** Pins that are in a file (`isPersistent`) can be approved with `plugboard pins`. */
export function toDiagnostics(
  changes: readonly PinChange[],
  mode: PinMode,
  isPersistent: boolean,
): Diagnostic[] {
  const diagnostics = changes.slice(0, MOST_DIAGNOSTICS).map((change): Diagnostic => {
    const effect = mode === "block" ? "; refused until it is approved" : "";
    const remedy = isPersistent ? `; to accept it: ${approveCommand(change)}` : "";
    const message = `${summary(change)}${effect}${remedy}`;
    const { server } = change;
    return change.kind === "instructions"
      ? { server, message }
      : { server, subject: oneLine(change.tool, 80), message };
  });
  const [first] = changes;
  const rest = changes.length - diagnostics.length;
  if (first !== undefined && rest > 0) {
    const message = `${plural(rest, "more tool")} changed or new since the server was pinned`;
    diagnostics.push({ server: first.server, message });
  }
  return diagnostics;
}

/** Does not quote the new text, because a model reads this message. */
export function refusal(change: PinChange, tool: string, isPersistent: boolean): PlugboardError {
  const { server } = change;
  const message = `${oneLine(`${server}/${tool}`, 160)} is refused, ${reason(change)}`;
  const hint = isPersistent
    ? `a person can review and approve it; to see what changed: plugboard pins show ${pinName(change)}`
    : "pins are kept in memory only: a new board accepts it";
  return new PlugboardError("CHANGED_TOOL", message, { server, hint, permanent: true });
}

function reason(change: PinChange): string {
  switch (change.kind) {
    case "changed": {
      const parts = changedParts(change.before, change.after).join(", ");
      return `since it changed after it was pinned (${parts}) and nobody has approved that`;
    }
    case "instructions":
      return "since its server's instructions changed after they were pinned and nobody has approved that";
    case "new":
      return "since it is new on a server that was pinned before and nobody has approved it";
  }
}

function summary(change: PinChange): string {
  switch (change.kind) {
    case "changed": {
      const { changes, isCut } = diffTools(change.before, change.after, {
        excerpt: SHORT,
        changes: 2,
      });
      const more = isCut ? "; and more" : "";
      return `changed since it was pinned: ${changes.map(changeText).join("; ")}${more}`;
    }
    case "instructions": {
      const text = changeText(diffText("instructions", change.before, change.after, SHORT));
      return `changed since it was pinned: ${text}`;
    }
    case "new":
      return "new tool since the server was pinned";
  }
}

function changeText({ path, before, after }: FieldChange): string {
  if (before === undefined) return oneLine(`${path} added: ${after}`);
  if (after === undefined) return oneLine(`${path} removed: ${before}`);
  return oneLine(`${path}: "${before}" -> "${after}"`);
}

function approveCommand(change: PinChange): string {
  return `plugboard pins approve ${pinName(change)}`;
}

function pinName(change: PinChange): string {
  const { server } = change;
  return shellWord(change.kind === "instructions" ? server : `${server}/${change.tool}`);
}
