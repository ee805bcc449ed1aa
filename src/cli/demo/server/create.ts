// Assembles the demo server: an MCP server that is useful without a network, a key or a file.

import { McpServer } from "@modelcontextprotocol/server";
import { type Clock, systemClock } from "../../../util/clock.ts";
import { packageVersion } from "../../../util/version.ts";
import { addContent } from "./content.ts";
import { packageRoot } from "./docs.ts";
import { addTools } from "./tools.ts";

export interface DemoOptions {
  clock?: Clock;
  /** The directory with README.md, CHANGELOG.md and docs/. */
  root?: string;
}

const INSTRUCTIONS =
  "The demo of Plugboard. Use it for the time in any time zone and for " +
  "questions about Plugboard itself (search_docs). It needs no network.";

export function createDemoServer({
  clock = systemClock,
  root = packageRoot(),
}: DemoOptions = {}): McpServer {
  const server = new McpServer(
    { name: "plugboard-demo", title: "Plugboard demo", version: packageVersion() },
    {
      instructions: INSTRUCTIONS,
      // Its lists never change, so it does not promise to announce changes.
      capabilities: {
        tools: { listChanged: false },
        resources: { listChanged: false },
        prompts: { listChanged: false },
      },
    },
  );
  addTools(server, clock, root);
  addContent(server, clock, root);
  return server;
}
