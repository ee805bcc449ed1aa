// The configuration where there is no file: the demo server that comes with the package.

import { fileURLToPath } from "node:url";
import { parseAgentConfig } from "../../config/parse.ts";
import type { AgentConfig } from "../../model/agent-config.ts";

export function demoConfig(): AgentConfig {
  return parseAgentConfig({
    // Its tools change whenever the package is updated, so pins would only get in the way.
    servers: { demo: { command: process.execPath, args: [demoServerPath()], pins: "off" } },
  });
}

/** The compiled server, also when this module runs from its source. */
function demoServerPath(): string {
  const here = import.meta.url;
  const path = here.endsWith(".ts") ? "../../../dist/demo/server.js" : "../../demo/server.js";
  return fileURLToPath(new URL(path, here));
}
