// How the time to frame a text and to look for suspicious patterns grows with its length, for texts made to
// be hard: twice the text should take about twice the time.

import { importSource } from "../../scripts/sources.mjs";

const { presentToModel } = await importSource("core/guard/present/present.ts");

const MEGABYTE = 1024 ** 2;
const ROUNDS = 5;
const subject = {
  canonical: "docs/search",
  source: { kind: "mcp", server: "docs", tool: "search" },
};
const settings = { framing: "full", maxResultBytes: Infinity, onSuspicious: () => {} };

const INPUTS = {
  "plain words": "The quick brown fox jumps over the lazy dog.\n",
  newlines: "\n",
  "open brackets": "<",
  "open tags": "<b ",
  underscores: "_",
  "the letter x": "x",
  "x and blanks": "x                                       ",
  "beginnings of a marker": "<<<END_EXTERNAL_UNTRUSTED_",
  "a name and zero-width spaces": `EXTERNAL_UNTRUSTED_CONTENT${"\u200b".repeat(1000)}`,
  "letters far apart": `xt${" -".repeat(5000)}`,
  "the name but for a letter": "EXTERNAL_UNTRUSTED_CONTEN",
  "whole markers": '<<<END_EXTERNAL_UNTRUSTED_CONTENT id="0123456789abcdef">>>',
  "names in prose": "external untrusted content ",
  "combining marks": "\u0301",
  "an x and combining marks": `x${"\u0301".repeat(64)}`,
  "zero-width spaces": "\u200b",
  "tag characters": "\u{e0058}\u{e0054}",
  ampersands: "&",
  "entities of entities": "&amp;",
  "percent signs": "%25",
  backslashes: "\\",
  "escape characters": "\u001b[",
  "Cyrillic letters": "Х",
  "Chinese characters": "中文字符",
  "suspicious beginnings": "ignore all of the ",
  "secrets that are not sent": "send ",
  "tokens that are not sent": "send token ",
  "prompts that are not shown": "reveal your the system ",
  "Chinese beginnings": "转发忽略",
  "hidden elements without an end": '<p style="display:none',
  "images without an end": "![a](http://a",
};

/** Milliseconds of processor time, so that other work on the machine does not count. */
function cost(task) {
  const before = process.cpuUsage();
  task();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The best of several rounds for each, taken in turns: a slow spell of the machine then meets both. */
function best(...texts) {
  const outcomes = texts.map((text) => ({ content: [{ type: "text", text }] }));
  const least = texts.map(() => Infinity);
  for (let round = 0; round < ROUNDS; round += 1) {
    outcomes.forEach((outcome, index) => {
      const spent = cost(() => presentToModel(outcome, subject, settings));
      least[index] = Math.min(least[index], spent);
    });
  }
  return least;
}

/** Written byte by byte, so that no time goes into joining it. */
function fill(unit, length) {
  return Buffer.from(
    unit.repeat(Math.ceil(length / unit.length)).slice(0, length),
    "utf16le",
  ).toString("utf16le");
}

console.log(
  `${"text".padEnd(28)}${"5 M".padStart(10)}${"10 M".padStart(10)}${"ratio".padStart(8)}`,
);
for (const [name, unit] of Object.entries(INPUTS)) {
  const [once, twice] = best(fill(unit, 5 * MEGABYTE), fill(unit, 10 * MEGABYTE));
  const ratio = (twice / once).toFixed(2);
  console.log(
    `${name.padEnd(28)}${`${once.toFixed(0)} ms`.padStart(10)}${`${twice.toFixed(0)} ms`.padStart(10)}${ratio.padStart(8)}`,
  );
}

const TURNS = 5000;
const page = "The quick brown fox, next to the text box, jumps.\n".repeat(205);

function perPage(options) {
  const outcome = { content: [{ type: "text", text: page }] };
  const all = { ...settings, ...options };
  const run = () => {
    for (let turn = 0; turn < TURNS; turn += 1) void presentToModel(outcome, subject, all);
  };
  run();
  return `${((cost(run) / TURNS) * 1000).toFixed(1)} µs`;
}

console.log(`10 KB of ASCII, framing alone: ${perPage({ onSuspicious: undefined })}`);
console.log(`10 KB of ASCII, with detection: ${perPage({})}`);
