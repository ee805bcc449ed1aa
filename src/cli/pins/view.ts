// Pins as tables, pages and JSON.

import { changesOf, definitionOf, type doublesOf } from "../../core/board/pins.ts";
import type { FieldChange, Pin, PinEntry } from "../../core/types/pin.ts";
import { oneLine } from "../../util/text.ts";
import { localTime } from "../terminal/local-time.ts";
import { type KnownPins, nameOf } from "./target.ts";
import { type Column, renderTable, type Row } from "../terminal/table.ts";
import type { OutputView, Tone } from "../terminal/terminal.ts";

const COLUMNS: readonly Column[] = [
  { title: "TOOL", min: 24 },
  { title: "STATE" },
  { title: "FIRST SEEN" },
  { title: "CHANGED", min: 10 },
];

const TONES: Readonly<Record<Pin<unknown>["kind"], Tone>> = {
  pinned: "green",
  changed: "yellow",
  new: "yellow",
};

/** The pins of tools that copy another server's, each with the name of that. */
type Doubles = ReturnType<typeof doublesOf>;

export function pinTable(
  entries: readonly PinEntry[],
  known: KnownPins,
  doubles: Doubles,
  { width, paint }: OutputView,
): string[] {
  const rows = entries.map((entry): Row => {
    const { pin } = entry;
    const original = originalOf(entry, doubles);
    return {
      notes: original === undefined ? [] : [`a double of ${original}`],
      cells: [
        entry.kind === "tool" ? nameOf(entry, known) : `${nameOf(entry, known)} (instructions)`,
        { text: pin.kind, tone: TONES[pin.kind] },
        localTime(pin.firstSeen),
        pin.kind === "pinned" ? "" : localTime(pin.pending.seen),
      ],
    };
  });
  return renderTable(COLUMNS, rows, { width, paint });
}

/** What changed since it was pinned, on top; with `full`, then the whole definition as it is now. */
export function pinPage(
  entry: PinEntry,
  known: KnownPins,
  { paint }: OutputView,
  full: boolean,
): string[] {
  const { pin } = entry;
  const what = entry.kind === "tool" ? "" : " (instructions)";
  const times = [`first seen ${localTime(pin.firstSeen)}`];
  if (pin.kind === "changed") times.push(`changed ${localTime(pin.pending.seen)}`);
  const changes = shownChanges(changesOf(entry));
  const now = pin.kind === "changed" && full ? shownChanges(definitionOf(entry)) : [];
  return [
    `${paint("bold", oneLine(nameOf(entry, known)) + what)}  ${paint(TONES[pin.kind], pin.kind)}`,
    `  ${paint("dim", times.join(", "))}`,
    ...changes.flatMap((change) => changeLines(change, pin.kind, paint)),
    ...(now.length === 0 ? [] : ["", `  ${paint("bold", "The definition as it is now:")}`]),
    ...now.flatMap((part) => changeLines(part, "pinned", paint)),
  ];
}

function originalOf(entry: PinEntry, doubles: Doubles): string | undefined {
  return entry.kind === "tool" ? doubles.get(entry.pin) : undefined;
}

export function pinJson(entry: PinEntry, doubles: Doubles = new Map()): object {
  const { pin, pins } = entry;
  return {
    server: pins.server,
    key: pins.key,
    tool: entry.kind === "tool" ? entry.tool : null,
    state: pin.kind,
    firstSeen: new Date(pin.firstSeen).toISOString(),
    ...(pin.kind !== "pinned" && { changedAt: new Date(pin.pending.seen).toISOString() }),
    doubleOf: originalOf(entry, doubles),
  };
}

/** With both definitions in full. */
export function pinJsonInFull(entry: PinEntry): object {
  const { pin } = entry;
  return {
    ...pinJson(entry),
    pinned: pin.kind === "new" ? null : pin.approved.value,
    pending: pin.kind === "pinned" ? null : pin.pending.value,
    changes: pin.kind === "changed" ? shownChanges(changesOf(entry)) : [],
  };
}

/** The differences that a page or a JSON object shows. */
function shownChanges({ changes, isCut }: ReturnType<typeof changesOf>): FieldChange[] {
  return isCut ? [...changes, { path: "… and more; --json shows both in full" }] : changes;
}

export function changeLines(
  { path, before, after }: FieldChange,
  kind: Pin<unknown>["kind"],
  paint: OutputView["paint"],
): string[] {
  const marked = (sign: string, tone: Tone, text: string | undefined): string[] =>
    text === undefined || text === ""
      ? []
      : text.split("\n").map((line) => `    ${paint(tone, `${sign} ${line}`)}`);
  if (kind === "pinned") {
    return [`  ${path}`, ...(after ?? "").split("\n").map((line) => `    ${line}`)];
  }
  return [`  ${path}`, ...marked("-", "red", before), ...marked("+", "green", after)];
}
