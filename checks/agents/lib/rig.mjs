// What the checks work in: for each agent a directory that is its HOME, the scripted model, and the agent with and
// without the front.

import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { endAll, leftAfter } from "../../lib/processes.mjs";
import { BIN } from "../../lib/run-gateway.mjs";
import { startModel } from "../../../test/support/model/start.mjs";
import { ISOLATED, NODE_DIRECTORY, write } from "./agents.mjs";
import { connect } from "./connect.mjs";
import { scriptedTurn } from "./script.mjs";

const ECHO = fileURLToPath(new URL("../../../test/fixtures/servers/echo.mjs", import.meta.url));
const DEMO = fileURLToPath(new URL("../../../dist/cli/demo/server/server.js", import.meta.url));
const TAP = fileURLToPath(new URL("tap.mjs", import.meta.url));

export async function openRig() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "plugboard-agents-")));
  const marker = `PLUGBOARD_AGENTS=${root}`;
  const model = await startModel({ turns: scriptedTurn });
  // Servers get little of an environment, and what is left running is looked for by this.
  const demo = { command: process.execPath, args: [DEMO], env: { PLUGBOARD_AGENTS: root } };
  let count = 0;

  /** `how` is "front" or "bare". Without `account`, the agent knows nothing of the model; `approval` is the board's. */
  const open = (agent, how, { account = false, approval } = {}) => {
    count += 1;
    const home = join(root, String(count));
    const work = join(home, "work");
    mkdirSync(work, { recursive: true });
    const config = join(home, "plugboard.json");
    const defaults = { mcp: { servers: { demo } }, tools: { approval } };
    writeFileSync(config, JSON.stringify({ agents: { defaults } }));
    for (const [path, text] of Object.entries(agent.files?.({ work }) ?? {})) write(path, text);
    const env = {
      PATH: `${NODE_DIRECTORY}:${process.env.PATH}`,
      HOME: home,
      PLUGBOARD_HOME: join(home, "plugboard"),
      TERM: "dumb",
      PLUGBOARD_AGENTS: root,
      ...ISOLATED,
      ...(account && agent.env({ home, work, url: model.url })),
    };
    const record = join(home, "received.jsonl");
    const tapped = [process.execPath, TAP, record, ...agent.command];
    const front = [
      process.execPath,
      BIN,
      "--config",
      config,
      "acp",
      ...(agent.words ?? []),
      "--",
      ...tapped,
    ];
    const opened = connect(how === "front" ? front : agent.command, { cwd: work, env });
    return {
      ...opened,
      work,
      /** What the front has sent to the agent. */
      received: () =>
        readFileSync(record, "utf8")
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => JSON.parse(line)),
    };
  };

  return {
    open,
    model,
    /** A server that the client brings. */
    echo: {
      name: "echo",
      command: process.execPath,
      args: [ECHO],
      env: [{ name: "PLUGBOARD_AGENTS", value: root }],
    },
    /** Pids of what is left of everything that was started, a while later. */
    left: (ms) => leftAfter(marker, ms),
    async close() {
      await model.close();
      endAll(marker);
      rmSync(root, { recursive: true, force: true });
    },
  };
}
