// The report as text.

const FAILURE_WIDTH = 90;

const COLUMNS = {
  sequential: [
    ["p50 µs", ({ figures }) => figures.p50.toFixed(1)],
    ["middle half", ({ spread }) => spread.map((value) => value.toFixed(1)).join("–")],
    ["p99 µs", ({ figures }) => figures.p99.toFixed(0)],
  ],
  concurrent: [
    ["calls/s", ({ figures }) => thousands(figures.callsPerSecond)],
    ["middle half", ({ spread }) => spread.map(thousands).join("–")],
    ["CPU µs/call", ({ figures }) => figures.cpuPerCall.toFixed(1)],
  ],
  big: [
    ["ms", ({ figures }) => figures.ms.toFixed(1)],
    ["middle half", ({ spread }) => spread.map((value) => value.toFixed(1)).join("–")],
    ["peak MB", ({ figures }) => figures.peakRss.toFixed(0)],
  ],
  sessions: [
    ["KB per session", ({ figures }) => figures.kbPerSession.toFixed(1)],
    ["middle half", ({ spread }) => spread.map((value) => value.toFixed(1)).join("–")],
    ["sessions", ({ figures }) => figures.sessions.toFixed(0)],
  ],
  start: [
    ["10 servers ms", ({ figures }) => figures.all.toFixed(0)],
    ["slowest alone ms", ({ figures }) => figures.alone.toFixed(0)],
    ["to slowest", ({ figures }) => times(figures.ratio)],
  ],
};

export function contenderTable(scenario, rows) {
  const own = COLUMNS[scenario.measure];
  const head = ["", ...own.map(([title]) => title), "to best peer", "to limit"];
  const lines = rows.map((row) => {
    const name = [row.label, row.version, row.needsNode && "*"].filter(Boolean).join(" ");
    if (row.figures === undefined) return [name, { note: `failed: ${shorten(row.failure)}` }];
    const figures = own.map(([, format]) => format(row));
    return [name, ...figures, times(row.toBestPeer), times(row.toLimit)];
  });
  return layOut([head, ...lines]) + footnotes(rows);
}

export function commandTable({ figures, failure }) {
  if (figures === undefined) return `  failed: ${shorten(failure)}\n`;
  const { empty, version, toolsPrinted, tools, toolsCold } = figures;
  return layOut([
    ["", "ms", "to node -e 0"],
    ["node -e 0", empty.toFixed(0), times(1)],
    ["plugboard --version", version.toFixed(0), times(version / empty)],
    ["plugboard tools, warm cache: printed", toolsPrinted.toFixed(0), times(toolsPrinted / empty)],
    ["plugboard tools, warm cache: finished", tools.toFixed(0), times(tools / empty)],
    ["plugboard tools, no cache, server takes 5 s", toolsCold.toFixed(0), times(toolsCold / empty)],
  ]);
}

export function callTable({ figures, failure }) {
  if (figures === undefined) return `  failed: ${shorten(failure)}\n`;
  const { empty, plugboard, mcporter } = figures;
  return layOut([
    ["", "ms", "to node -e 0"],
    ["node -e 0", empty.toFixed(0), times(1)],
    ["plugboard call", plugboard.toFixed(0), times(plugboard / empty)],
    ["mcporter call", mcporter.toFixed(0), times(mcporter / empty)],
  ]);
}

export function coldStartTable({ figures, failure }) {
  if (figures === undefined) return `  failed: ${shorten(failure)}\n`;
  const { limit, best } = figures;
  return layOut([
    ["", "load CPU ms", "start CPU ms", "start to limit", "both to limit", "start ms"],
    ...Object.entries(best).map(([name, { load, start, whole, ms }]) => [
      name,
      load.toFixed(0),
      start.toFixed(0),
      times(start / best[limit].start),
      times(whole / best[limit].whole),
      ms.toFixed(0),
    ]),
  ]);
}

export function secretsTable({ figures, failure }) {
  if (figures === undefined) return `  failed: ${shorten(failure)}\n`;
  const row = (title, { all, slowest, rest }) => [
    title,
    all.toFixed(0),
    slowest.toFixed(0),
    rest.toFixed(0),
    slowest < 100 ? "-" : times(all / slowest),
  ];
  return layOut([
    ["", "all ready ms", "slowest request ms", "from last secret ms", "to slowest"],
    row("servers that start in no time", figures.tiny),
    row("the same, requests that take no time", figures.tinyAtOnce),
    row("servers in Node", figures.node),
    row("the same, requests that take no time", figures.nodeAtOnce),
  ]);
}

export function verdictLine({ claim, passed, because, node }) {
  const word = passed === undefined ? "----" : passed ? "PASS" : "FAIL";
  return `  ${word}  Node ${node}  ${claim}: ${shorten(because)}`;
}

/** A peer may run on a Node that it does not promise to run on. */
function footnotes(rows) {
  const marked = rows.filter(({ needsNode }) => needsNode !== undefined);
  if (marked.length === 0) return "";
  return `  * ${marked.map(({ label, needsNode }) => `${label} asks for Node ${needsNode}`).join(", ")}\n`;
}

/** First column to the left, figures to the right; a cell with a `note` runs over what follows. */
function layOut(rows) {
  const widths = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) {
      if (typeof cell === "string") widths[i] = Math.max(widths[i] ?? 0, cell.length);
    }
  }
  const format = (cell, i) => {
    if (typeof cell !== "string") return cell.note;
    return i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]);
  };
  return rows.map((row) => `  ${row.map(format).join("  ").trimEnd()}\n`).join("");
}

function times(ratio) {
  return ratio === undefined ? "-" : `${ratio.toFixed(2)} x`;
}

function thousands(number) {
  return `${(number / 1_000).toFixed(1)} k`;
}

function shorten(text) {
  const line = text.split("\n")[0];
  return line.length > FAILURE_WIDTH ? `${line.slice(0, FAILURE_WIDTH - 1)}…` : line;
}
