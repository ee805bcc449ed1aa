// `plugboard acp` on the command line.

import type { Command as Parser } from "commander";

export interface AcpCommand {
  kind: "acp";
  /** `provider/model` */
  model?: string;
  /** Sign in to the servers in this terminal, instead of serving an editor. */
  signIn?: boolean;
}

/** An editor appends it to the command of the agent, so it is an option of this command. */
export const SIGN_IN = "--sign-in";

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

Editors that offer authentication can sign in to the servers of the
configuration that ask for it, in your browser or with --sign-in in a terminal.

Example:
  acpx --agent "plugboard acp" exec "/tools"`;

export function describeAcp(program: Parser, choose: (command: AcpCommand) => void): void {
  program
    .command("acp")
    .description("run as an ACP agent on stdio (started by an editor)")
    .option("--model <provider/model>", "use this model unless a session chooses another")
    .option(SIGN_IN, "sign in to the servers that ask for it, in this terminal, and exit")
    .addHelpText("after", HELP)
    .action(({ model, signIn }: { model?: string; signIn?: boolean }) =>
      choose({ kind: "acp", model, ...(signIn && { signIn }) }),
    );
}
