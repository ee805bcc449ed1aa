// `plugboard acp` on the command line.

import { type Command as Parser, Option } from "commander";

export interface AcpCommand {
  kind: "acp";
  /** `provider/model` */
  model?: string;
  /** What to sign in to in this terminal, instead of serving an editor. */
  signIn?: SignInTo;
  /** Takes MCP servers that run in the editor. */
  mcpOverAcp?: boolean;
}

type SignInTo = "servers" | "model";

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
OPENAI_API_KEY or GEMINI_API_KEY, or one that you gave with --sign-in model;
without a key, a running Ollama. Without any model you can only use commands
such as /tools, /call, /mcp and /read.

Editors that offer authentication can sign in to the servers of the
configuration that ask for it, in your browser or with --sign-in in a terminal.
--sign-in model asks for the key of a model provider and keeps it in a file that
only you can read; it also shows and forgets the keys that are there.

Example:
  acpx --agent "plugboard acp" exec "/tools"`;

export function describeAcp(program: Parser, choose: (command: AcpCommand) => void): void {
  program
    .command("acp")
    .description("run as an ACP agent on stdio (started by an editor)")
    .option("--model <provider/model>", "use this model unless a session chooses another")
    .addOption(
      new Option(
        `${SIGN_IN} [what]`,
        "sign in, in this terminal, to the servers that ask for it, or to a model by its key, and exit",
      )
        .choices(["servers", "model"] satisfies SignInTo[])
        .preset("servers" satisfies SignInTo),
    )
    .option(
      "--mcp-over-acp",
      "also take MCP servers that run in the editor itself (an unstable part of ACP)",
    )
    .addHelpText("after", HELP)
    .action(({ model, signIn, mcpOverAcp }: Omit<AcpCommand, "kind">) =>
      choose({
        kind: "acp",
        model,
        ...(signIn && { signIn }),
        ...(mcpOverAcp && { mcpOverAcp }),
      }),
    );
}
