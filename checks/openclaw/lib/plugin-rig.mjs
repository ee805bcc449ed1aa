// A real OpenClaw with the plugin in it: a home and a state directory of its own, a board of three servers, one server that
// only OpenClaw has, and a model that says what it is told to. Each command is a process that ends by itself.

import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startModel } from "../../../test/support/model/start.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const fixture = (name) => join(root, "test", "fixtures", "servers", `${name}.mjs`);

/** A command that takes longer than this hangs. */
const COMMAND_MS = 600_000;

/**
 * `node` is the path of a Node that OpenClaw runs on, `openclaw` that of its openclaw.mjs. The rig has
 * `openclaw(args)`, `turn(calls)`, `configure(change)`, `command`, `env`, `directory`, `pluginDir` and `close()`.
 */
export async function openPluginRig({ node, openclaw }) {
  const directory = mkdtempSync(join(tmpdir(), "plugboard-openclaw-plugin-"));
  const home = join(directory, "home");
  const state = join(directory, "state");
  const bin = join(directory, "bin");
  for (const each of [join(home, ".plugboard"), state, bin, join(directory, "workspace")]) {
    mkdirSync(each, { recursive: true });
  }
  const board = {
    lib: { command: node, args: [fixture("library")] },
    echo: { command: node, args: [fixture("echo")] },
    gone: { command: "no-such-program" },
  };
  writeFileSync(join(home, ".plugboard", "plugboard.json"), JSON.stringify({ mcpServers: board }));
  // The manifest starts `plugboard`, as an installed one is found.
  const command = join(bin, "plugboard");
  writeFileSync(command, `#!/bin/sh\nexec "${node}" "${join(root, "dist", "bin.cjs")}" "$@"\n`);
  chmodSync(command, 0o755);

  const model = await startModel({ turns: answer });
  const config = join(state, "openclaw.json");
  writeFileSync(config, JSON.stringify(configOf(model.url, directory, node)));

  const env = {
    ...process.env,
    HOME: home,
    OPENCLAW_STATE_DIR: state,
    OPENCLAW_HIDE_BANNER: "1",
    OPENCLAW_SUPPRESS_NOTES: "1",
    PATH: [bin, dirname(node), process.env.PATH].join(delimiter),
  };
  const run = (file, args) => runCommand(file, args, { env, cwd: directory });
  let sessions = 0;
  return {
    directory,
    env,
    model,
    pluginDir: join(root, "dist", "openclaw-plugin"),
    openclaw: (args) => run(node, [openclaw, ...args]),
    command,
    /** Changes OpenClaw's configuration. */
    configure(change) {
      const value = JSON.parse(readFileSync(config, "utf8"));
      change(value);
      writeFileSync(config, JSON.stringify(value, null, 2));
    },
    /** One turn in a session of its own. Its model calls `calls`, one after the other, and then ends. Returns its requests. */
    async turn(calls) {
      sessions += 1;
      const from = model.requests.length;
      const message = `CALLS ${JSON.stringify(calls)}`;
      const args = ["agent", "--local", "--session-id", `turn-${sessions}`, "--message", message];
      const { code, stdout, stderr } = await run(node, [openclaw, ...args]);
      if (code !== 0) throw new Error(`openclaw agent exited with ${code}:\n${stdout}\n${stderr}`);
      return model.requests.slice(from);
    },
    async close() {
      await model.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Calls what the first message says, and ends once there are results: OpenClaw adds messages behind them. */
function answer({ messages }) {
  if (messages.some(({ role }) => role === "tool")) return { text: "done" };
  const asked = messages.map(({ text }) => /CALLS (\[.*\])/.exec(text)?.[1]).find(Boolean);
  const toolCalls = JSON.parse(asked ?? "[]");
  return toolCalls.length === 0 ? { text: "done" } : { toolCalls };
}

function configOf(modelUrl, directory, node) {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const model = {
    id: "scripted",
    name: "scripted",
    reasoning: false,
    input: ["text"],
    contextWindow: 128_000,
    maxTokens: 4096,
    cost,
  };
  return {
    gateway: { mode: "local", bind: "loopback", auth: { mode: "token", token: "of-the-rig" } },
    agents: {
      defaults: {
        workspace: join(directory, "workspace"),
        model: { primary: "scripted/scripted" },
        skipBootstrap: true,
      },
    },
    tools: { toolSearch: false },
    models: {
      mode: "merge",
      providers: {
        scripted: {
          baseUrl: `${modelUrl}/v1`,
          apiKey: "none",
          api: "openai-completions",
          models: [model],
        },
      },
    },
    mcp: { servers: { other: { command: node, args: [fixture("echo")] } } },
  };
}

async function runCommand(file, args, { env, cwd }) {
  const child = spawn(file, args, { env, cwd, stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) {
    child[name].setEncoding("utf8").on("data", (chunk) => (output[name] += chunk));
  }
  const timer = setTimeout(() => child.kill("SIGKILL"), COMMAND_MS);
  const code = await new Promise((resolve, reject) => {
    child.on("error", reject).on("close", (status, signal) => resolve(status ?? signal));
  });
  clearTimeout(timer);
  return { code, ...output };
}
