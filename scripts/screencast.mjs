// Makes docs/screencast.svg, the moving picture in the README: `npm run docs:screencast`, after a build. With --check it
// only says whether the picture still shows what the commands print. The commands are really run, by the command line
// on a terminal of its own, with an empty home and the servers of node_modules.

import { EventEmitter } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { importSource } from "./sources.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Relative to the repository. */
const SCREENCAST = "docs/screencast.svg";

/** What somebody types. The answers are for the questions that the command asks. */
const STORY = [
  {
    command: "plugboard add notes -- npx -y @modelcontextprotocol/server-filesystem ~/nots",
    answers: ["n"],
  },
  {
    command: "plugboard add notes -- npx -y @modelcontextprotocol/server-filesystem ~/notes",
  },
  { command: "plugboard call notes/read_text_file path=~/notes/todo.md" },
  { command: "plugboard connect claude-code", answers: ["y"] },
];

const COLUMNS = 92;
/** What things of this machine are called in the picture. */
const HOME = "/home/ada";
const INSTALLED = "/usr/lib/node_modules/plugboard/";
const NODE = "/usr/bin/node";

/** Its `npx` takes packages from node_modules, so that nothing is downloaded. */
const PATH = [join(root, "test/support/bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(
  delimiter,
);

/** Runs the story, and gives what each command printed: a list of { command, output }. */
async function runStory() {
  const home = mkdtempSync(join(tmpdir(), "plugboard-screencast-"));
  try {
    mkdirSync(join(home, "notes"));
    writeFileSync(
      join(home, "notes", "todo.md"),
      "- [ ] water the plants\n- [x] plug in the agent\n",
    );
    // Claude Code is found by its file.
    writeFileSync(join(home, ".claude.json"), "{}\n");
    const steps = [];
    for (const step of STORY) steps.push({ ...step, output: await run(step, home) });
    return steps;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function run({ command, answers = [] }, home) {
  const { runCli } = await importSource("cli/main.ts");
  let output = "";
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const left = [...answers];
  const screen = terminal((text) => {
    output += text;
    if (!text.endsWith("[y/N] ")) return;
    // A terminal shows what is typed.
    const answer = `${left.shift() ?? "n"}\n`;
    output += answer;
    stdin.write(answer);
  });
  const argv = command.split(" ").slice(1);
  await runCli(
    argv.map((word) => word.replace(/(^|=)~/, `$1${home}`)),
    {
      stdin,
      stdout: screen,
      stderr: screen,
      // With CI, nothing on the screen redraws itself.
      env: { PATH, HOME: home, CI: "1", FORCE_COLOR: "1" },
      cwd: home,
      homedir: home,
      clock: (await importSource("util/clock.ts")).systemClock,
      events: new EventEmitter(),
      exit: () => {},
    },
  );
  return output
    .replaceAll(home, HOME)
    .replaceAll(root, INSTALLED)
    .replaceAll(process.execPath, NODE);
}

function terminal(write) {
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _, done) {
      write(String(chunk));
      done();
    },
  });
  return Object.assign(stream, { isTTY: true, columns: COLUMNS, rows: 40 });
}

const CHAR = 8.4;
const LINE = 19;
const MARGIN = 18;
const BAR = 34;

/** Seconds: how the picture moves. */
const PER_LETTER = 0.025;
const AFTER_COMMAND = 0.7;
const PER_LINE = 0.09;
const AFTER_OUTPUT = 1.9;
const AT_END = 5;

/** The steps as an animated picture. Whoever wants no motion sees all of it at once. */
function toSvg(steps) {
  let now = 0.6;
  const lines = steps.flatMap(({ command, output }, index) => {
    const typed = { spans: [{ text: `$ ${command}`, tone: "typed" }], at: now };
    now += command.length * PER_LETTER;
    typed.until = now;
    now += AFTER_COMMAND;
    const shown = rowsOf(output.trimEnd()).map((spans) => {
      now += PER_LINE;
      return { spans, at: now };
    });
    now += AFTER_OUTPUT;
    const gap = index === 0 ? [] : [{ spans: [], at: 0 }];
    return [...gap, typed, ...shown];
  });
  const whole = now + AT_END;
  const width = Math.ceil(COLUMNS * CHAR + 2 * MARGIN);
  const height = BAR + lines.length * LINE + MARGIN;
  const percent = (seconds) => `${((100 * seconds) / whole).toFixed(2)}%`;
  const rules = lines.map(({ at, until, spans }, index) => {
    if (spans.length === 0) return "";
    if (until === undefined) {
      return `@keyframes l${index}{0%,${percent(at)}{opacity:0}${percent(at + 0.01)},to{opacity:1}}`;
    }
    const letters = spans[0].text.length;
    return `@keyframes l${index}{0%,${percent(at)}{clip-path:inset(0 100% 0 0);animation-timing-function:steps(${letters})}${percent(until)},to{clip-path:inset(0 0 0 0)}}`;
  });
  const uses = lines.map((_, index) => `#l${index}{animation-name:l${index}}`);
  const texts = lines.map(({ spans }, index) => {
    if (spans.length === 0) return "";
    const y = BAR + (index + 0.8) * LINE;
    const length = spans.reduce((sum, { text }) => sum + [...text].length, 0) * CHAR;
    const parts = spans.map(({ text, tone }) =>
      tone === undefined ? escaped(text) : `<tspan class="${tone}">${escaped(text)}</tspan>`,
    );
    return `<text id="l${index}" x="${MARGIN}" y="${y.toFixed(1)}" textLength="${length.toFixed(1)}" xml:space="preserve">${parts.join("")}</text>`;
  });
  const said = steps.map(({ command }) => command).join("; ");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A terminal: ${escaped(said)}">
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d6deeb}
.typed,.bold{fill:#fff;font-weight:bold}.dim{fill:#8592a6}.red{fill:#ff7b72}.green{fill:#7ee787}.yellow{fill:#f2cc60}.cyan{fill:#79c0ff}
@media (prefers-reduced-motion:no-preference){
text{animation-duration:${whole.toFixed(1)}s;animation-iteration-count:infinite}
${[...rules, ...uses].filter((rule) => rule !== "").join("\n")}
}
</style>
<rect width="100%" height="100%" rx="10" fill="#0d1117"/>
<circle cx="20" cy="18" r="5.5" fill="#ff5f56"/><circle cx="38" cy="18" r="5.5" fill="#ffbd2e"/><circle cx="56" cy="18" r="5.5" fill="#27c93f"/>
${texts.filter((text) => text !== "").join("\n")}
</svg>
`;
}

const TONES = new Map([
  ["1", "bold"],
  ["2", "dim"],
  ["31", "red"],
  ["32", "green"],
  ["33", "yellow"],
  ["36", "cyan"],
]);

/** What a terminal shows, as rows of spans, none wider than the picture. */
function rowsOf(output) {
  const rows = [[]];
  let column = 0;
  const putLine = (text, tone) => {
    for (let rest = text; rest !== "";) {
      if (column === COLUMNS) {
        rows.push([]);
        column = 0;
      }
      const fits = rest.slice(0, COLUMNS - column);
      rows.at(-1).push({ text: fits, tone });
      rest = rest.slice(fits.length);
      column += fits.length;
    }
  };
  const put = (text, tone) => {
    const [first, ...lines] = text.split("\n");
    putLine(first, tone);
    for (const line of lines) {
      rows.push([]);
      column = 0;
      putLine(line, tone);
    }
  };
  // Behind each escape character come a code, which holds for what follows, and an `m`.
  const [plain, ...painted] = output.split("\u001B[");
  put(plain);
  for (const part of painted) {
    const end = part.indexOf("m");
    put(part.slice(end + 1), TONES.get(part.slice(0, end)));
  }
  return rows;
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

/** How long something took is different each time. */
function withoutTimes(svg) {
  return svg.replace(/\d+(?:\.\d+)? m?s\b/g, "0 ms");
}

const svg = toSvg(await runStory());
if (!process.argv.includes("--check")) {
  writeFileSync(join(root, SCREENCAST), svg);
  console.log(`Written: ${SCREENCAST}.`);
} else if (withoutTimes(readFileSync(join(root, SCREENCAST), "utf8")) === withoutTimes(svg)) {
  console.log(`${SCREENCAST} is up to date.`);
} else {
  console.log(`${SCREENCAST} is out of date: npm run docs:screencast makes it anew.`);
  process.exitCode = 1;
}
