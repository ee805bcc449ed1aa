// The part of docs/evidence.md that the rig writes: a row for each claim, and a note for each part. A run of some parts alone leaves what is
// there of the others, so each part says when it ran.

import { table } from "../../lib/evidence.mjs";

const HEADER = ["part", "what", "figure", "goal", "", "load before", "ran on"];

/** `found` are the parts of this run, `before` is the text of the runs before it, and `order` the names of all parts. */
export function pageText({ head, found, before, order }) {
  const date = dateIn(head);
  const [earlier, notes] = [rowsIn(before), notesIn(before)];
  for (const { name, load, judged, notes: said } of found) {
    const rows = judged.map(({ claim, figure, goal, isMet }, at) => {
      const first = at === 0 ? [name, load.toFixed(1), date] : ["", "", ""];
      return [first[0], claim, figure, goal, isMet ? "met" : "**missed**", ...first.slice(1)];
    });
    earlier.set(name, rows);
    notes.set(name, said);
  }
  const lines = order.flatMap((name) => notes.get(name)?.map((note) => `- ${name}: ${note}`) ?? []);
  return [
    head,
    table(
      HEADER,
      order.flatMap((name) => earlier.get(name) ?? []),
    ),
    ...(lines.length > 0 ? [lines.join("\n")] : []),
  ].join("\n\n");
}

/** By the part that they are about. */
function rowsIn(text) {
  const rows = new Map();
  let name = "";
  for (const line of text.split("\n")) {
    if (!line.startsWith("| ") || /^\| (?:part|-+) /.test(line)) continue;
    const cells = line.slice(2, -2).split(" | ").map(unescape);
    if (cells[0] !== "") name = cells[0];
    rows.set(name, [...(rows.get(name) ?? []), cells]);
  }
  return rows;
}

function notesIn(text) {
  const names = [...rowsIn(text).keys()];
  const notes = new Map();
  for (const line of text.split("\n")) {
    const name = names.find((each) => line.startsWith(`- ${each}: `));
    if (name === undefined) continue;
    notes.set(name, [...(notes.get(name) ?? []), line.slice(`- ${name}: `.length)]);
  }
  return notes;
}

function dateIn(text) {
  return /\d{4}-\d\d-\d\d/.exec(text)?.[0] ?? "";
}

/** As `table` escapes it. */
function unescape(cell) {
  return cell.trim().replaceAll("\\|", "|").replaceAll("&lt;", "<");
}
