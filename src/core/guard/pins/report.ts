// The texts about what differs from its pins: for the log and the status, and for a caller whose call is refused.

import type { Diagnostic } from "../../types/diagnostic.ts";
import { PlugboardError } from "../../types/errors.ts";
import type { PinMode } from "../../types/guard-settings.ts";
import type { FieldChange, LostPins } from "../../types/pin.ts";
import type { ToolDefinition } from "../../types/tool.ts";
import { isPlainName, oneLine, plural, sayTool, shellWord } from "../../../util/text.ts";
import { changedParts, diffText, diffTools } from "./diff.ts";
import { type Listing, listingOf, type PinChange } from "./pin.ts";

interface ListingWords {
  /** What is new in the list. */
  added: string;
  /** What lost pins mean for the list. */
  lost: string;
  /** How many of its changes are not listed one by one. */
  more: (rest: number) => string;
}

const WORDS: Readonly<Record<Listing, ListingWords>> = {
  tools: {
    added: "new tool",
    lost: "its tools are refused",
    more: (rest) => plural(rest, "more tool"),
  },
  resources: {
    added: "new",
    lost: "its resources are neither listed nor read",
    more: (rest) => `${rest} more of its resources`,
  },
  prompts: {
    added: "new",
    lost: "its prompts are neither listed nor read",
    more: (rest) => `${rest} more of its prompts`,
  },
};

/** A server that renames all its tools must not fill the log. */
const MOST_DIAGNOSTICS = 20;
/** Characters shown of each side of a change. */
const SHORT = 120;

/** The changes of one list. Pins that are in a file (`isPersistent`) can be approved with `plugboard pins`. */
export function toDiagnostics(
  changes: readonly PinChange[],
  listing: Listing,
  mode: PinMode,
  isPersistent: boolean,
): Diagnostic[] {
  const diagnostics = changes.slice(0, MOST_DIAGNOSTICS).map((change): Diagnostic => {
    const parts = [summary(change), ...consequences(change, listing, mode, isPersistent)];
    const subject = "tool" in change ? oneLine(change.tool, 80) : undefined;
    return {
      server: change.server,
      subject,
      message: parts.join("; "),
      kind: "pins",
      ...(mode === "block" && { refused: change.kind === "lost" ? "lost" : "changed" }),
    };
  });
  const [first] = changes;
  const rest = changes.length - diagnostics.length;
  if (first !== undefined && rest > 0) {
    const message = `${WORDS[listing].more(rest)} changed or new since the server was pinned`;
    diagnostics.push({ server: first.server, message, kind: "pins" });
  }
  return diagnostics;
}

/** What the change has for an effect, and what a person can do about it. */
function consequences(
  change: PinChange,
  listing: Listing,
  mode: PinMode,
  isPersistent: boolean,
): string[] {
  if (change.kind === "lost") return [WORDS[listing].lost, lostRemedy(change)];
  const refused = change.kind === "new" ? "not offered and refused" : "refused";
  return [
    mode === "block"
      ? `${refused} until it is approved`
      : `it is still used${"tool" in change && listing === "tools" ? ', except by rules for "@readOnly"' : ""}, since "pins" is "warn"`,
    ...(isPersistent ? [`to accept it: plugboard pins approve ${pinName(change)}`] : []),
  ];
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
      return `${WORDS[listingOf(change.tool)].added} since the server was pinned`;
    case "lost":
      return lostReason(change);
  }
}

function changeText({ path, before, after }: FieldChange): string {
  if (before === undefined) return oneLine(`${path} added: ${after}`);
  if (after === undefined) return oneLine(`${path} removed: ${before}`);
  return oneLine(`${path}: "${before}" -> "${after}"`);
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
