// Questions in a real terminal: the built command in a pty, where rows that redraw themselves would erase a question.
// Needs the build.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "vitest";
import { useScratch } from "../cli/harness.ts";
import { closeAll, owned } from "../fixtures/http/client.ts";
import { startOAuth } from "../fixtures/oauth/oauth.ts";
import { fixture } from "../support/boards.ts";

const BIN = fileURLToPath(new URL("../../dist/bin.cjs", import.meta.url));
const PTY = fileURLToPath(new URL("../support/in-terminal.py", import.meta.url));
/** Rows are drawn every 80 ms, so this is more than long enough for one of them. */
const READING_MS = 3000;

const hasTerminals = spawnSync("python3", ["-c", "import pty, termios"]).status === 0;

const scratch = useScratch();
const started: Terminal[] = [];

class Terminal {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
  shown = "";

  constructor(columns: number, args: readonly string[]) {
    const { directory: cwd } = scratch;
    const { CI: _, NO_COLOR: __, ...outer } = process.env;
    const env = { ...outer, TERM: "xterm-256color", PLUGBOARD_HOME: `${cwd}/home`, BROWSER: "" };
    const line = [PTY, String(columns), process.execPath, BIN, ...args];
    this.child = spawn("python3", line, { cwd, env });
    this.child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.shown += text));
    this.child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.shown += text));
    this.ended = once(this.child, "close").then(([code]) => code);
    started.push(this);
  }

  async shows(text: string): Promise<void> {
    const more = (): Promise<unknown> => once(this.child.stdout ?? this.child, "data");
    const over = this.ended.then(() => this.shown.includes(text) || Promise.reject(this.shown));
    while (!this.shown.includes(text)) await Promise.race([more(), over]);
  }
}

afterEach(async () => {
  for (const { child, ended } of started.splice(0)) {
    child.stdin?.end();
    await ended;
  }
  await closeAll();
});

it.skipIf(!hasTerminals)(
  "a question stays on the terminal until it is answered (in a pty: needs python3)",
  async () => {
    const oauth = owned(await startOAuth({}));
    const board = scratch.file("board.json", {
      agents: {
        defaults: {
          mcp: {
            servers: {
              echo: { ...fixture("echo"), approval: "ask" },
              asks: fixture("asks"),
              docs: { url: oauth.url },
            },
          },
        },
      },
    });
    scratch.file("plugboard.json", { mcpServers: { echo: fixture("echo") } });
    const form = {
      message: "Who are you?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } } },
    };
    const call = ["call", "echo/echo", "text=hi"];
    // The next question then comes before the first row: the tools are known, and nothing has to start.
    const warm = new Terminal(100, ["--config", board, ...call, "--yes"]);
    expect(await warm.ended).toBe(0);
    const cases: [args: string[], question: string, answer: string, last: string][] = [
      [call, "changes, [N]o ", "y\n", "hi\r\n"],
      [
        ["call", "asks/ask", "method=elicitation/create", `params:=${JSON.stringify(form)}`],
        "  > ",
        "-\n",
        "cancel",
      ],
      [["login", "docs", "--no-browser"], "paste its address here:\r\n", "http://x/\n", "docs"],
      [["trust"], "Trust it? [y/N] ", "y\n", "is now trusted"],
      [["add", "-s", "project", "more", ...words(fixture("echo"))], "[y/N] ", "n\n", "nothing"],
    ];
    const asked: [Terminal, string, string, string][] = [];
    // One after the other: the busier the machine, the sooner the rows are there, and the less there is to see.
    for (const [args, question, answer, last] of cases) {
      const config = args[0] === "trust" || args[0] === "add" ? [] : ["--config", board];
      const terminal = new Terminal(100, [...config, ...args]);
      await terminal.shows(question);
      asked.push([terminal, question, answer, last]);
    }
    await delay(READING_MS);
    for (const [terminal, question, answer, last] of asked) {
      const { shown } = terminal;
      expect(shown.slice(shown.lastIndexOf(question))).toBe(question);
      terminal.child.stdin?.write(answer);
      await terminal.ended;
      expect(terminal.shown.slice(shown.length)).toContain(last);
    }
  },
);

function words({ command = "", args = [] }: { command?: string; args?: readonly string[] }) {
  return ["--", command, ...args];
}
