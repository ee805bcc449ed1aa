// What the suite's server scenarios are run against: the fixture server behind the gateway, or the fixture alone.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { endGateways, runGateway } from "../../lib/run-gateway.mjs";
import { startRelay } from "./relay.mjs";

const FIXTURE = fileURLToPath(new URL("../fixture/server.mjs", import.meta.url));

const running = new Set();

/** Ends whatever still runs; for a harness that is ended itself. */
export function endTargets() {
  endGateways();
  for (const child of running) child.kill("SIGKILL");
}

/** The fixture server speaks what the suite speaks, unless it is told otherwise. */
const ERAS = { "2025-11-25": "2025", "2026-07-28": "2026" };

/**
 * Resolves to `{ url, close }`. `version` is the revision that the suite will speak, or "extension"; `upstream` is
 * the era of the fixture server, where it is not to be that of the suite.
 */
export function startTarget({ version, dir, isDirect, upstream }) {
  if (isDirect) return startFixture();
  const era = upstream ?? ERAS[version] ?? ERAS["2026-07-28"];
  return startBehindGateway(era, join(dir, `gateway-${version}`));
}

async function startBehindGateway(era, home) {
  const fixture = {
    command: process.execPath,
    args: [FIXTURE, "--era", era],
    // Both are off unless somebody asks for them.
    sampling: "allow",
    roots: true,
  };
  const gateway = await runGateway({
    home,
    agent: { mcp: { servers: { fixture }, toolNames: "{tool}" } },
  });
  const relay = await startRelay({ target: gateway.url, token: gateway.token });
  return {
    url: relay.url,
    async close() {
      await relay.close();
      await gateway.stop();
    },
  };
}

async function startFixture() {
  const child = spawn(process.execPath, [FIXTURE, "--http"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.add(child);
  const exited = once(child, "exit").finally(() => running.delete(child));
  const [url] = await Promise.race([
    once(createInterface(child.stdout), "line"),
    exited.then(([code]) => {
      throw new Error(`the fixture server ended with ${code}`);
    }),
  ]);
  return {
    url,
    async close() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
