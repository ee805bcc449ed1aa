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
  /** The command of the ACP agent to stand in front of. */
  agent?: readonly string[];
  /** How that agent is told of its board, if it never reads the servers of a session: a format, or a template's file. */
  agentConfig?: string;
  /** The agent is OpenClaw: the address of its gateway, or true if it is to be found. */
  openclaw?: string | true;
}

/** Another agent answers the editor. */
export type FrontCommand = AcpCommand & { agent: readonly string[] };

export function isFront(command: AcpCommand): command is FrontCommand {
  return command.agent !== undefined;
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

With a command after --, Plugboard stands in front of that ACP agent: everything
is passed on, and the agent gets the servers of the editor and of the
configuration as one MCP server named plugboard. In Zed's settings:
  "args": ["acp", "--", "npx", "-y", "@agentclientprotocol/claude-agent-acp"]
An agent that never reads the servers of a session needs --agent-config. The
agent has a model of its own; --model is then for servers that ask for one. See
docs/front.md.

--openclaw is for OpenClaw, which refuses the servers of a session. Run
'plugboard openclaw setup' once; then each session gets a slot of OpenClaw's
configuration. The agent is 'openclaw acp', unless you give another command
after --. OpenClaw's gateway and its token are found as OpenClaw finds them. See
docs/openclaw.md.

Examples:
  acpx --agent "plugboard acp" exec "/tools"
  plugboard acp -- npx -y @agentclientprotocol/claude-agent-acp
  plugboard acp --agent-config tsagent -- npx @tsagent/acp-server ./my-agent
  plugboard acp --openclaw`;

export function describeAcp(program: Parser, choose: (command: AcpCommand) => void): void {
  const parser = program
    .command("acp")
    .description("run as an ACP agent on stdio, or in front of one (started by an editor)")
    .usage("[options] [-- <command of an agent...>]")
    .argument("[agent...]")
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
    .option(
      "--agent-config <format>",
      "the agent after -- reads its servers from a file: tsagent, or the path of a template",
    )
    .option(
      "--openclaw [ws-url]",
      "the agent is OpenClaw, which gets the servers through its gateway, on this machine",
    )
    .addHelpText("after", HELP)
    .action((words: string[], given: Omit<AcpCommand, "kind" | "agent">) => {
      const { model, signIn, mcpOverAcp, agentConfig, openclaw } = given;
      const agent = words.length > 0 ? words : openclaw === undefined ? undefined : OPENCLAW;
      const problem = isEmptyBehind(program, words)
        ? EMPTY
        : problemWith({ ...given, ...(agent && { agent }) });
      if (problem !== undefined) return parser.error(`error: ${problem}`);
      choose({
        kind: "acp",
        model,
        ...(signIn && { signIn }),
        ...(mcpOverAcp && { mcpOverAcp }),
        ...(agent && { agent }),
        ...(agentConfig !== undefined && { agentConfig }),
        ...(openclaw !== undefined && { openclaw }),
      });
    });
}

/** The agent that comes with OpenClaw. */
const OPENCLAW = ["openclaw", "acp"];

const EMPTY = "the command of the agent after -- is empty";

/** `--` with nothing behind it, which the parser does not tell from none. */
function isEmptyBehind(program: Parser, words: readonly string[]): boolean {
  const { rawArgs } = program as Parser & { rawArgs?: readonly string[] };
  return words.length === 0 && rawArgs?.at(-1) === "--";
}

/** What does not go together. */
function problemWith({
  agent,
  signIn,
  agentConfig,
  openclaw,
}: Omit<AcpCommand, "kind">): string | undefined {
  if (signIn !== undefined && agent !== undefined) {
    return `${SIGN_IN} is for the servers and models of Plugboard; sign in to another agent with its own command`;
  }
  if (agentConfig !== undefined && openclaw !== undefined) {
    return "--agent-config and --openclaw do not go together: OpenClaw gets the servers through its gateway";
  }
  if (agentConfig !== undefined && agent === undefined) {
    return "--agent-config needs the command of the agent after --";
  }
  return agent?.[0] === "" ? EMPTY : undefined;
}
