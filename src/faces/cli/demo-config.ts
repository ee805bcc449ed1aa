// The configuration for whoever has none yet: the demo server that comes with the package.

import { fileURLToPath } from "node:url";
import { parseAgentConfig } from "../../config/parse.ts";
import type { AgentConfig } from "../../model/agent-config.ts";

export function demoConfig(): AgentConfig {
  return parseAgentConfig({
    // It changes with the package, which is nobody's surprise.
    servers: { demo: { command: process.execPath, args: [demoServerPath()], pins: "off" } },
  });
}

/** The compiled server, also where this module runs from its source. */
function demoServerPath(): string {
  const here = import.meta.url;
  const path = here.endsWith(".ts") ? "../../../dist/demo/server.js" : "../../demo/server.js";
  return fileURLToPath(new URL(path, here));
}
