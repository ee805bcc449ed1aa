// What the checks work in: a directory of their own that is HOME for all that is started, the servers, the
// scripted model, and acpx with the agent in its configuration.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startModel } from "../../../test/support/model/start.mjs";
import { runAcpx } from "./acpx.mjs";
import { startHttpServer } from "./http-server.mjs";
import { endAll, leftAfter } from "../../lib/processes.mjs";
import { scriptedTurn } from "./script.mjs";

const BIN = fileURLToPath(new URL("../../../dist/bin.cjs", import.meta.url));
const ECHO = fileURLToPath(new URL("../../../test/fixtures/servers/echo.mjs", import.meta.url));
const FILES = join(
  dirname(
    createRequire(import.meta.url).resolve("@modelcontextprotocol/server-filesystem/package.json"),
  ),
  "dist",
  "index.js",
);

/** `direct` has no model and answers commands; `modelled` asks the scripted one. */
const AGENTS = { direct: [], modelled: ["--config", "model.json"] };

export async function openRig() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "plugboard-acpx-")));
  const work = join(home, "work");
  mkdirSync(join(home, ".acpx"), { recursive: true });
  mkdirSync(work);
  // Servers get no more of an environment than a few variables, and HOME is one of them.
  const marker = `HOME=${home}`;
  // Nobody listens there: `direct` must have no model, whatever runs on this machine.
  const OLLAMA_BASE_URL = "http://127.0.0.1:9/v1";
  const env = { PATH: process.env.PATH, HOME: home, SHELL: "/bin/sh", OLLAMA_BASE_URL };
  writeFileSync(join(work, "note.txt"), "the note says 42");

  const model = await startModel({ turns: scriptedTurn });
  const web = await startHttpServer({ PATH: env.PATH });
  const json = (name, content) => {
    const path = join(home, name);
    writeFileSync(path, JSON.stringify(content));
    return path;
  };
  json("model.json", {
    agents: { defaults: { model: "scripted/m" } },
    models: {
      providers: { scripted: { type: "anthropic", baseUrl: `${model.url}/v1`, apiKey: "k" } },
    },
  });
  const argvOf = (flags) => [
    process.execPath,
    BIN,
    ...flags.map((flag) => (flag.endsWith(".json") ? join(home, flag) : flag)),
    "acp",
  ];
  json(".acpx/config.json", {
    agents: Object.fromEntries(
      Object.entries(AGENTS).map(([name, flags]) => [name, { argv: argvOf(flags) }]),
    ),
  });

  const servers = {
    files: stdio("files", FILES, work),
    web: { type: "http", name: "web", url: web.url, headers: [] },
    echo: stdio("echo", ECHO),
  };
  /** acpx with these servers, as `{ code, stdout, stderr }`. */
  const acpx = (mcpServers, args, options) => {
    const config = json("mcp.json", { mcpServers });
    const all = ["--cwd", work, "--mcp-config", config, "--ttl", "60", ...args];
    return runAcpx(all, { cwd: work, env, ...options });
  };
  const close = async () => {
    await Promise.all([model.close(), web.close()]);
    endAll(marker);
    rmSync(home, { recursive: true, force: true });
  };
  return {
    acpx,
    servers,
    model,
    rawAgent: argvOf([]).join(" "),
    /** Pids of what is left of everything that acpx has started, a while later. */
    left: (ms) => leftAfter(marker, ms),
    close,
  };
}

function stdio(name, ...args) {
  return { name, command: process.execPath, args, env: [] };
}
