// What the checks work in: a directory that is HOME for everything started, a board with two real servers, and
// the gateway in front of it.

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { endAll, leftAfter } from "../../lib/processes.mjs";
import { BIN, runGateway } from "../../lib/run-gateway.mjs";

const NOWHERE = "http://127.0.0.1:9";

/** Nothing may leave the machine, whatever a client would like to fetch or report. */
const ISOLATED = {
  HTTP_PROXY: NOWHERE,
  HTTPS_PROXY: NOWHERE,
  NO_PROXY: "127.0.0.1,localhost",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
};

export async function openRig() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "plugboard-clients-")));
  const marker = `HOME=${home}`;
  const work = join(home, "work");
  mkdirSync(work);
  const env = { PATH: process.env.PATH, HOME: home, TERM: "dumb", ...ISOLATED };
  const servers = {
    everything: { command: process.execPath, args: [entryOf("server-everything"), "stdio"] },
    files: { command: process.execPath, args: [entryOf("server-filesystem"), work] },
  };
  const close = () => {
    endAll(marker);
    rmSync(home, { recursive: true, force: true });
  };
  let gateway;
  try {
    gateway = await runGateway({ home, agent: { mcp: { servers } } });
  } catch (error) {
    close();
    throw error;
  }
  return {
    home,
    work,
    env: { ...env, PLUGBOARD_TOKEN: gateway.token },
    url: gateway.url,
    token: gateway.token,
    /** `plugboard`, with the board's configuration. */
    plugboard: [process.execPath, BIN, "--config", gateway.config],
    /** `plugboard serve`, as a client starts it. */
    serve: [process.execPath, BIN, "--config", gateway.config, "serve"],
    /** Ends the gateway. Resolves to the pids of what is left then of everything started here. */
    async left(ms) {
      await gateway.stop();
      return leftAfter(marker, ms);
    },
    close,
  };
}

function entryOf(server) {
  const manifest = createRequire(import.meta.url).resolve(
    `@modelcontextprotocol/${server}/package.json`,
  );
  return join(dirname(manifest), "dist", "index.js");
}
