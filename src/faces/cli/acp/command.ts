// `plugboard acp` on the command line.

import type { Command as Parser } from "commander";

export interface AcpCommand {
  kind: "acp";
  /** `provider/model` */
  model?: string;
}

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
configuration. Questions are answered by the "model" of the configuration or of
--model. Without either, the key that is set decides: ANTHROPIC_API_KEY,
OPENAI_API_KEY or GEMINI_API_KEY; without a key, a running Ollama. Without any
model you can only use commands such as /tools, /call, /mcp and /read.

Example:
  acpx --agent "plugboard acp" exec "/tools"`;

export function describeAcp(program: Parser, choose: (command: AcpCommand) => void): void {
  program
    .command("acp")
    .description("run as an ACP agent on stdio (started by an editor)")
    .option("--model <provider/model>", "use this model unless a session chooses another")
    .addHelpText("after", HELP)
    .action(({ model }: { model?: string }) => choose({ kind: "acp", model }));
}
