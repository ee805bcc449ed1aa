// Puts the demo server together: an MCP server that is useful without a network, a key or a file.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { McpServer } from "@modelcontextprotocol/server";
import type { Clock } from "../util/clock.ts";
import { systemClock } from "../util/clock.ts";
import { packageRoot } from "./docs.ts";
import { addPrompts } from "./prompts.ts";
import { addResources } from "./resources.ts";
import { addCountdown } from "./tools/countdown.ts";
import { addDocsTool } from "./tools/docs.ts";
import { addTextTool } from "./tools/text.ts";
import { addTimeTools } from "./tools/time.ts";
import { addUnitsTool } from "./tools/units.ts";

export interface DemoOptions {
  clock?: Clock;
  /** Where README.md, CHANGELOG.md, docs/ and package.json are. */
  root?: string;
}

const INSTRUCTIONS =
  "The demo of Plugboard. Use it for the time in any time zone, unit conversion, text statistics, and " +
  "questions about Plugboard itself (search_docs). It needs no network.";

export function createDemoServer({
  clock = systemClock,
  root = packageRoot(),
}: DemoOptions = {}): McpServer {
  const server = new McpServer(
    { name: "plugboard-demo", title: "Plugboard demo", version: versionIn(root) },
    {
      instructions: INSTRUCTIONS,
      // Nothing is added or removed while it runs.
      capabilities: {
        tools: { listChanged: false },
        resources: { listChanged: false },
        prompts: { listChanged: false },
      },
    },
  );
  addTimeTools(server, clock);
  addUnitsTool(server);
  addTextTool(server);
  addDocsTool(server, root);
  addCountdown(server, clock);
  addResources(server, root);
  addPrompts(server, { root, clock });
  return server;
}

function versionIn(root: string): string {
  try {
    return String(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version);
  } catch {
    return "unknown";
  }
}
