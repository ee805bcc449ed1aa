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
An editor starts this command and talks to it on stdin and stdout. It uses the
servers that the editor passes, and yours. docs/editors.md has the settings for
each editor. The model is chosen as for plugboard ask.

With a command after --, Plugboard stands in front of that ACP agent, and gives
it all these servers as one: see docs/front.md, and docs/openclaw.md for
OpenClaw.

Examples:
  plugboard acp
  plugboard acp -- npx -y @agentclientprotocol/claude-agent-acp
  plugboard acp --openclaw`;

export function describeAcp(program: Parser, choose: (command: AcpCommand) => void): void {
  const parser = program
    .command("acp")
    .description("run as an ACP agent, or in front of one")
    .usage("[options] [-- <command of an agent...>]")
    .argument("[agent...]")
    .option("--model <provider/model>", "use this model unless a session chooses another")
    .addOption(
      new Option(
        `${SIGN_IN} [what]`,
        "sign in to the servers that ask for it, or to a model by its key, and exit",
      )
        .choices(["servers", "model"] satisfies SignInTo[])
        .preset("servers" satisfies SignInTo),
    )
    .option(
      "--mcp-over-acp",
      "also take servers that run in the editor itself (an unstable part of ACP)",
    )
    .option(
      "--agent-config <format>",
      "the agent reads its servers from a file: tsagent, or a template's path",
    )
    .option(
      "--openclaw [ws-url]",
      "the agent is OpenClaw; the address of its gateway if it is not found",
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
