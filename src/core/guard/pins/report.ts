// The texts about tools that differ from their pins: for the log and the status, and for a caller whose call is
// refused.

import type { Diagnostic } from "../../types/diagnostic.ts";
import { PlugboardError } from "../../types/errors.ts";
import type { PinMode } from "../../types/guard-settings.ts";
import type { FieldChange, LostPins } from "../../types/pin.ts";
import type { ToolDefinition } from "../../types/tool.ts";
import { isPlainName, oneLine, plural, sayTool, shellWord } from "../../../util/text.ts";
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
    const { effect, remedy } = consequences(change, mode, isPersistent);
    const message = `${summary(change)}${effect}${remedy}`;
    const { server } = change;
    return "tool" in change
      ? { server, subject: oneLine(change.tool, 80), message, kind: "pins" }
      : { server, message, kind: "pins" };
  });
  const [first] = changes;
  const rest = changes.length - diagnostics.length;
  if (first !== undefined && rest > 0) {
    const message = `${plural(rest, "more tool")} changed or new since the server was pinned`;
    diagnostics.push({ server: first.server, message, kind: "pins" });
  }
  return diagnostics;
}

function consequences(
  change: PinChange,
  mode: PinMode,
  isPersistent: boolean,
): { effect: string; remedy: string } {
  if (change.kind === "lost") {
    return { effect: "; its tools are refused", remedy: `; ${lostRemedy(change)}` };
  }
  const refused = change.kind === "new" ? "not offered and refused" : "refused";
  return {
    effect: mode === "block" ? `; ${refused} until it is approved` : "",
    remedy: isPersistent ? `; to accept it: ${approveCommand(change)}` : "",
  };
}

/** Quotes neither the new text nor a name that could hold words, because a model reads this message. */
export function refusal(change: PinChange, tool: string, isPersistent: boolean): PlugboardError {
  const { server } = change;
  const message = `${sayTool(`${server}/${tool}`)} is refused, ${reason(change)}`;
  const hint = isPersistent
    ? `a person can ${personalRemedy(change)}`
    : "pins are kept in memory only: a new board accepts it";
  return new PlugboardError("CHANGED_TOOL", message, { server, hint, permanent: true });
}

function personalRemedy(change: PinChange): string {
  if (change.kind === "lost") return lostRemedy(change);
  return `review and approve it; to see what changed: plugboard pins show ${sayPin(change)}`;
}

/** A tool that must not be offered, without its definition. Whoever asks for it by name gets this. */
export function nameOnly(change: PinChange, name: string): ToolDefinition {
  const description = `(not offered: ${summary(change)}; a person has to approve it)`;
  return { name, description, inputSchema: { type: "object" } };
}

export function lostReason({ why }: LostPins): string {
  return why === "missing"
    ? "its pins are missing, although it was pinned before"
    : "its pins cannot be read";
}

export function lostRemedy({ server, file }: LostPins): string {
  return `restore ${file}, or pin the tools as they are now: plugboard pins forget ${shellWord(server)}`;
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
    case "lost":
      return `since nobody can tell whether it changed: the pins of its server are lost (${lostReason(change)})`;
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
    case "lost":
      return lostReason(change);
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
  return shellWord("tool" in change ? `${server}/${change.tool}` : server);
}

/** The same in a message that a model reads. */
function sayPin(change: PinChange): string {
  const isPlain = "tool" in change && isPlainName(change.tool.replace(/^prompt:/, ""));
  return isPlain ? pinName(change) : shellWord(change.server);
}
