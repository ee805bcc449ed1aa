import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll } from "../../lib/processes.mjs";
import { freePort } from "../../lib/run-gateway.mjs";
import { MODULES, openThrough, startGateway } from "../lib/gateway.mjs";

export async function open(command, args) {
  const home = mkdtempSync(join(process.cwd(), "mcporter-"));
  const config = join(home, "mcporter.json");
  const echo = { command, args, lifecycle: "keep-alive" };
  writeFileSync(config, JSON.stringify({ mcpServers: { echo } }));
  const port = await freePort();
  const gateway = await startGateway(
    [`${MODULES}mcporter/dist/cli.js`, "--config", config, "serve", "--http", String(port)],
    { port, env: { HOME: home } },
  );
  const end = async () => {
    await gateway.end();
    // Its daemon outlives it.
    endAll(`HOME=${home}`);
  };
  return openThrough({ pid: gateway.pid, end }, { port });
}
