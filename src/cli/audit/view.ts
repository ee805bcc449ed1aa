// Lines of the audit as a table.

import type { AuditEntry, AuditLine } from "../../core/types/audit-entry.ts";
import { asText, byteSize, duration, oneLine, plural } from "../../util/text.ts";
import { localTime } from "../terminal/local-time.ts";
import { type Cell, type Column, renderTable, type Row } from "../terminal/table.ts";
import type { OutputView, Tone } from "../terminal/terminal.ts";

/** The width of the tool column when lines come one by one, so that they line up. */
const NAME_WIDTH = 28;

/** The names of suspicious patterns in a tool's definition begin with this. */
const DEFINITION = "definition/";

const COLUMNS: readonly Column[] = [
  { title: "TIME" },
  { title: "TOOL", min: 24 },
  { title: "OUTCOME" },
  { title: "TOOK", align: "right" },
  { title: "SIZE", align: "right" },
  { title: "DECISION", min: 10 },
  { title: "ARGUMENTS", min: 16 },
  { title: "CALLER", min: 12, stays: true },
  { title: "AGENT", min: 6 },
];

export function auditTable(lines: readonly AuditLine[], { width, paint }: OutputView): string[] {
  return renderTable(
    COLUMNS,
    lines.map((line) => toRow(line, "no end")),
    { width, paint },
  );
}

/** A line that is printed as it arrives: a call that has started may still end. */
export function auditRow(line: AuditLine, { paint }: OutputView): string {
  const cells = toRow(line, "started").cells.map((cell): Cell =>
    typeof cell === "string" ? { text: oneLine(cell) } : { ...cell, text: oneLine(cell.text) },
  );
  return cells
    .map(({ text, tone }, at) => {
      const shown = tone === undefined ? text : paint(tone, text);
      return at === 1 ? shown + " ".repeat(Math.max(0, NAME_WIDTH - text.length)) : shown;
    })
    .filter((text) => text !== "")
    .join("  ");
}

/** `started` is the outcome of a call whose end is not known. */
function toRow(line: AuditLine, started: "started" | "no end"): Row {
  const time = localTime(Date.parse(line.time));
  if (line.type === "lost") {
    return { cells: [time, { text: `${plural(line.count, "call")} not recorded`, tone: "red" }] };
  }
  if (line.type === "suspicious") {
    const tool = `${line.server}/${line.tool}`;
    const { patterns } = line;
    const what = patterns.every((each) => each.startsWith(DEFINITION)) ? "definition" : "result";
    const outcome = { text: `suspicious ${what}`, tone: "yellow" } as const;
    const found = patterns.map((each) => each.replace(DEFINITION, "")).join(", ");
    return { cells: [time, tool, outcome, "", "", found, "", "", line.agent] };
  }
  if (line.type === "decision") {
    const { server = "", tool, failed, decided, caller, agent = "" } = line;
    const about = tool === undefined ? server : `${server}/${tool}`;
    const outcome = { text: failed ?? "decided", tone: failed ? "red" : "cyan" } as const;
    return { cells: [time, about, outcome, "", "", decided, "", caller, agent] };
  }
  const { server, tool, agent, session, caller = "" } = line;
  const name = `${server}/${tool}`;
  const hash = (line.type === "call" && line.argumentsHash) || "";
  const args = line.arguments === undefined ? hash : asText(line.arguments);
  const where = session === undefined ? agent : `${agent} ${session}`;
  if (line.type === "start") {
    const tone = started === "started" ? "cyan" : "red";
    return { cells: [time, name, { text: started, tone }, "", "", "", args, caller, where] };
  }
  return {
    cells: [
      time,
      name,
      { text: line.outcome, tone: toneOf(line) },
      duration(line.durationMs),
      byteSize(line.bytes),
      line.rule === undefined ? line.decision : `${line.decision} (${line.rule})`,
      args,
      caller,
      where,
    ],
  };
}

function toneOf({ outcome, decision }: AuditEntry): Tone {
  if (outcome === "ok") return "green";
  return decision === "refused" || outcome === "input" ? "yellow" : "red";
}
