// What the checks work in: a directory that is HOME for everything started, the scripted model, a board with two
// servers behind `plugboard up`, and one OpenClaw gateway that several checks share.

import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openPluginRig } from "./plugin-rig.mjs";
import { endAll, leftAfter, processesWith } from "../../lib/processes.mjs";
import { BIN, freePort, runGateway } from "../../lib/run-gateway.mjs";
import { startModel } from "../../../test/support/model/start.mjs";
import { openAcpClient } from "./acp-client.mjs";
import { NODE, openclaw, run, startOpenclaw } from "./openclaw.mjs";
import { scriptedTurn } from "./script.mjs";

const NOWHERE = "http://127.0.0.1:9";
const HARNESS = fileURLToPath(new URL("../harness", import.meta.url));

/** Nothing may leave the machine, whatever OpenClaw would like to fetch or report. */
const ISOLATED = {
  HTTP_PROXY: NOWHERE,
  HTTPS_PROXY: NOWHERE,
  NO_PROXY: "127.0.0.1,localhost",
  OPENCLAW_HIDE_BANNER: "1",
  OPENCLAW_SUPPRESS_NOTES: "1",
};

export async function openRig() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "plugboard-openclaw-")));
  try {
    return await openRigIn(home);
  } catch (error) {
    endAll(`HOME=${home}`);
    rmSync(home, { recursive: true, force: true });
    throw error;
  }
}

async function openRigIn(home) {
  // Everything that is started inherits it.
  const marker = `HOME=${home}`;
  const model = await startModel({ turns: scriptedTurn });
  const boardHome = join(home, ".plugboard");
  const board = await runGateway({
    home: boardHome,
    env: { HOME: home },
    agent: {
      framing: "full",
      mcp: { servers: { echo: fixture("echo"), library: fixture("library") } },
    },
  }).catch(async (error) => {
    await model.close();
    throw error;
  });

  const programs = join(home, "bin");
  mkdirSync(programs);
  const quoted = openclaw.map((word) => `'${word}'`).join(" ");
  writeFileSync(join(programs, "openclaw"), `#!/bin/sh\nexec ${quoted} "$@"\n`, { mode: 0o755 });

  /**
   * A directory for one OpenClaw and the Plugboard of its user, with what both need to run offline. `config` is
   * merged over OpenClaw's; `servers` are the user's in Plugboard.
   */
  const newOpenclaw = async (name, { config = {}, servers = {} } = {}) => {
    const directory = mkdtempSync(join(home, `${name}-`));
    const work = join(directory, "work");
    const ownHome = join(directory, "plugboard");
    mkdirSync(work, { recursive: true });
    mkdirSync(ownHome);
    writeFileSync(
      join(ownHome, "plugboard.json"),
      JSON.stringify({ agents: { defaults: { mcp: { servers }, tools: { approval: "ask" } } } }),
    );
    const port = await freePort();
    const token = randomBytes(16).toString("hex");
    const file = join(directory, "openclaw.json");
    const env = {
      PATH: `${programs}${delimiter}${process.env.PATH}`,
      HOME: home,
      PLUGBOARD_HOME: ownHome,
      OPENCLAW_STATE_DIR: join(directory, "state"),
      OPENCLAW_CONFIG_PATH: file,
      ...ISOLATED,
    };
    const base = baseConfig({ port, token, directory, modelUrl: model.url });
    writeFileSync(file, JSON.stringify({ ...base, ...config }, undefined, 2));
    const at = { cwd: work, env };
    let started;
    return {
      directory,
      work,
      file,
      env,
      /** OpenClaw's command line, as `{ code, stdout, stderr }`. */
      openclaw: (...args) => run(openclaw, args, at),
      /** Plugboard's, where the OpenClaw of this directory is the user's. */
      plugboard: (...args) => run([process.execPath, BIN], args, at),
      /** An editor with `plugboard acp --openclaw`. */
      editor: () => openAcpClient([process.execPath, BIN, "acp", "--openclaw"], at),
      /** Started when it is first needed, since that takes a while. */
      gateway() {
        started ??= startOpenclaw({ port, token, cwd: work, env });
        return started;
      },
      async stop() {
        const gateway = await started?.catch(() => undefined);
        await gateway?.stop();
      },
      /** SIGKILL. `gateway()` starts another one. */
      async kill() {
        const gateway = await started;
        started = undefined;
        await gateway.kill();
      },
    };
  };

  const main = await newOpenclaw("main", { config: mainConfig({ home, board, model }) });
  const all = [main];
  let plugin;
  let sessions = 0;
  const markers = async () => {
    const opened = await plugin?.catch(() => undefined);
    return opened === undefined ? [marker] : [marker, `HOME=${opened.env.HOME}`];
  };
  const close = async () => {
    await Promise.allSettled([model.close(), ...all.map((one) => one.stop())]);
    for (const one of await markers()) endAll(one);
    await (await plugin?.catch(() => undefined))?.close();
    rmSync(home, { recursive: true, force: true });
  };
  return {
    home,
    model,
    board,
    main,
    /** A further OpenClaw; ended with the rig at the latest. */
    async openclaw(name, options) {
      const one = await newOpenclaw(name, options);
      all.push(one);
      return one;
    },
    /** A name for a session that no other has. */
    session: () => `check-${(sessions += 1)}`,
    /** What the model was asked for a session of OpenClaw, which says in every request whose it is. */
    requestsFor: (agent, session) =>
      model.requests.filter(({ messages }) =>
        messages.some(({ text }) => text.includes(`session=agent:${agent}:${session} |`)),
      ),
    /** The sessions of ACP agents that OpenClaw has closed, and why: `{ sessionKey, reason }`. */
    closedAcp() {
      const file = join(home, "acpx", "closed.jsonl");
      const text = existsSync(file) ? readFileSync(file, "utf8") : "";
      return text
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line));
    },
    /** An OpenClaw for the checks of the plugin, which come with it. */
    async plugin() {
      // One OpenClaw at a time: each takes more than a gigabyte.
      await Promise.all(all.map((one) => one.stop()));
      plugin ??= openPluginRig({ node: NODE, openclaw: openclaw.at(-1) });
      return plugin;
    },
    running: () => processesWith(marker),
    /** Ends the gateways. Resolves to the pids of what is left then of everything started here. */
    async left(ms) {
      await Promise.all(all.map((one) => one.stop()));
      await board.stop();
      const left = (await markers()).map((one) => leftAfter(one, ms));
      return (await Promise.all(left)).flat();
    },
    close,
  };
}

/** One of the tests' MCP servers, as `mcpServers` of a configuration has it. */
export function fixture(name, ...args) {
  const path = fileURLToPath(
    new URL(`../../../test/fixtures/servers/${name}.mjs`, import.meta.url),
  );
  if (!existsSync(path)) throw new Error(`no fixture ${name}`);
  return { command: process.execPath, args: [path, ...args] };
}

function baseConfig({ port, token, directory, modelUrl }) {
  return {
    gateway: {
      mode: "local",
      port,
      bind: "loopback",
      auth: { mode: "token", token },
      http: { endpoints: { chatCompletions: { enabled: true } } },
    },
    // By default it writes to a directory that all users of the machine share.
    logging: { file: join(directory, "openclaw.log") },
    models: {
      mode: "replace",
      providers: {
        scripted: {
          baseUrl: `${modelUrl}/v1`,
          apiKey: "none",
          api: "openai-completions",
          models: [
            {
              id: "scripted",
              name: "scripted",
              reasoning: false,
              input: ["text"],
              contextWindow: 128_000,
              maxTokens: 4096,
              cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
            },
          ],
        },
      },
    },
    agents: {
      defaults: {
        model: { primary: "scripted/scripted" },
        workspace: join(directory, "work"),
        skipBootstrap: true,
      },
    },
    tools: { toolSearch: false },
  };
}

/**
 * The servers of the first routes, and an agent for each: what an agent's rules deny, OpenClaw does not start
 * for it.
 */
function mainConfig({ home, board, model }) {
  // Ten servers start at once, which takes long on a busy machine.
  const timing = { connectionTimeoutMs: 120_000, requestTimeoutMs: 120_000 };
  const servers = {
    // `plugboard serve`, one process for each of OpenClaw's sessions.
    serve: {
      command: process.execPath,
      args: [BIN, "--config", board.config, "--standalone", "serve"],
      env: { HOME: home, PLUGBOARD_HOME: join(home, ".plugboard") },
      ...timing,
    },
    // `plugboard up`, one for all.
    shared: {
      url: board.url,
      transport: "streamable-http",
      headers: { Authorization: `Bearer ${board.token}` },
      ...timing,
    },
    // The same server without Plugboard.
    own: { ...fixture("echo"), env: { HOME: home }, ...timing },
  };
  const denyAllBut = (...names) =>
    Object.keys(servers)
      .filter((name) => !names.includes(name))
      .map((name) => `${name}__*`);
  const agent = (name, deny, more = {}) => ({
    workspace: join(home, "agents", name),
    tools: { deny },
    ...more,
  });
  const configFile = join(home, "harness.json");
  writeFileSync(
    configFile,
    JSON.stringify({
      agents: {
        defaults: {
          model: "scripted/m",
          mcp: { servers: { echo: fixture("echo") } },
        },
      },
      models: {
        providers: { scripted: { type: "anthropic", baseUrl: `${model.url}/v1`, apiKey: "k" } },
      },
    }),
  );
  const stateDir = join(home, "acpx");
  mkdirSync(stateDir);
  return {
    agents: {
      ownership: "explicit",
      defaults: {
        model: { primary: "scripted/scripted" },
        skipBootstrap: true,
        systemAgent: { agentId: "none" },
      },
      entries: {
        none: agent("none", denyAllBut()),
        serve: agent("serve", denyAllBut("serve")),
        shared: agent("shared", denyAllBut("shared")),
        own: agent("own", denyAllBut("own")),
        reader: agent("reader", [...denyAllBut("shared"), "shared__echo__*"]),
        // The id by which OpenClaw's agents ask for it.
        plugboard: agent("plugboard", denyAllBut(), {
          runtime: {
            type: "acp",
            acp: { agent: "plugboard", backend: "acpx", mode: "persistent" },
          },
        }),
      },
    },
    acp: { enabled: true, backend: "acpx", allowedAgents: ["plugboard"] },
    mcp: { servers },
    plugins: {
      load: { paths: [HARNESS] },
      entries: {
        acpx: {
          enabled: true,
          config: {
            stateDir,
            agents: { plugboard: [process.execPath, BIN, "--config", configFile, "acp"] },
          },
        },
      },
    },
  };
}
