// The configuration where there is no file: the demo server that comes with the package.

import { fileURLToPath } from "node:url";
import { parseAgentConfig } from "../core/config/parse.ts";
import type { AgentConfig } from "../core/types/agent-config.ts";

export function demoConfig(): AgentConfig {
  return parseAgentConfig({
    // Its tools change whenever the package is updated, so pins would only get in the way.
    servers: { demo: { command: process.execPath, args: [demoServerPath()], pins: "off" } },
  });
}

/** The compiled server, also when this module runs from its source. */
function demoServerPath(): string {
  const here = import.meta.url;
  const path = here.endsWith(".ts")
    ? "../../dist/cli/demo/server/server.js"
    : "./demo/server/server.js";
  return fileURLToPath(new URL(path, here));
}
