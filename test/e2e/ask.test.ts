// `plugboard ask` as somebody runs it: a process of its own, which ends when it has answered.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isAlive, processesWith } from "../support/processes.ts";
import { type Model, type ModelOptions, startModel } from "../support/model/start.mjs";
import { temporaryDirectory } from "../support/directory.ts";

const bin = fileURLToPath(new URL("../../dist/bin.cjs", import.meta.url));
const echo = fileURLToPath(new URL("../fixtures/servers/echo.mjs", import.meta.url));

let directory = "";
let model: Model | undefined;
let asked: ChildProcess | undefined;

beforeEach(() => {
  directory = temporaryDirectory();
});

afterEach(async () => {
  if (asked?.pid !== undefined && isAlive(asked.pid)) {
    asked.kill("SIGKILL");
    await once(asked, "exit");
  }
  await model?.close();
});

/** Its stdin stays open, as a terminal's does. */
async function ask(turns: ModelOptions["turns"], ...argv: string[]) {
  model = await startModel({ turns });
  const env = { ASK_E2E: directory };
  const config = join(directory, "plugboard.json");
  const content = {
    agents: {
      defaults: {
        model: "scripted/m",
        mcp: { servers: { echo: { command: process.execPath, args: [echo], env } } },
      },
    },
    models: {
      providers: { scripted: { type: "google", baseUrl: `${model.url}/v1`, apiKey: "k" } },
    },
  };
  writeFileSync(config, JSON.stringify(content));
  const child = spawn(process.execPath, [bin, "--config", config, "ask", "go", ...argv], {
    cwd: directory,
    env: { PATH: process.env["PATH"], HOME: directory, PLUGBOARD_HOME: join(directory, "home") },
    stdio: ["pipe", "pipe", "pipe"],
  });
  asked = child;
  return { child, exited: once(child, "exit"), stderr: text(child.stderr) };
}

const CALL = { toolCalls: [{ name: "mcp__echo__echo", arguments: { text: "hi" }, id: "c1" }] };

describe("plugboard ask", () => {
  it("streams the answer, and ends by itself with its servers", async () => {
    let finish = (): void => {};
    const until = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { child, exited, stderr } = await ask(
      [CALL, { text: "an answer in many words", until }],
      "--yes",
    );
    const stdout = text(child.stdout);
    await once(child.stdout, "data");
    expect(model?.requests.at(-1)?.outcome).toBe("pending");
    finish();
    expect(await exited).toEqual([0, null]);
    expect(await stdout).toBe("an answer in many words\n");
    expect(await stderr).toContain('echo/echo {"text":"hi"}\n');
    expect(processesWith(`ASK_E2E=${directory}`)).toEqual([]);
  });

  it("tells every event in a line of JSON", async () => {
    const { child, exited } = await ask([CALL, { text: "done" }], "--yes", "--json");
    const lines = (await text(child.stdout)).trimEnd().split("\n");
    expect(await exited).toEqual([0, null]);
    const events = lines.map((line) => JSON.parse(line) as { type: string; reason?: string });
    const types = events.map(({ type }) => type);
    expect(types.filter((type) => type !== "text" && type !== "usage")).toEqual([
      "step",
      "tool_call",
      "tool_result",
      "step",
      "end",
    ]);
    expect(events.at(-1)).toMatchObject({ type: "end", reason: "end_turn" });
  });
});
