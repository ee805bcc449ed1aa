// `plugboard acp` on the command line.

import type { Command as Parser } from "commander";

const HELP = `
An editor starts this command and talks to it on stdin and stdout. In Zed's
settings:
  "agent_servers": {
    "Plugboard": { "type": "custom", "command": "plugboard", "args": ["acp"] }
  }
docs/editors.md has the settings of other editors. Problems are logged on
stderr; if the agent cannot start, the editor also gets the reason in the answer
to its first request.

The MCP servers that the editor passes are used together with those in the
configuration. With a "model" in the configuration the agent answers questions;
without one you can only use commands such as /tools, /call, /mcp and /read.

Example:
  acpx --agent "plugboard acp" exec "/tools"`;

export function describeAcp(program: Parser, choose: () => void): void {
  program
    .command("acp")
    .description("run as an ACP agent on stdio (started by an editor)")
    .addHelpText("after", HELP)
    .action(choose);
}
