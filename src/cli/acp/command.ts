// `plugboard acp` on the command line.

import { command, Mistake } from "../command.ts";

export interface AcpRequest {
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
export type FrontRequest = AcpRequest & { agent: readonly string[] };

export function isFront(given: AcpRequest): given is FrontRequest {
  return given.agent !== undefined;
}

type SignInTo = "servers" | "model";

/** An editor appends it to the command of the agent, so it is an option of this command. */
export const SIGN_IN = "--sign-in";

const NOTES = `
An editor starts this command and talks to it on stdin and stdout. It uses the
servers that the editor passes, and yours. docs/editors.md has the settings for
each editor. The model is chosen as for plugboard ask.

With a command after --, Plugboard stands in front of that ACP agent, and gives
it all these servers as one: see docs/front.md, and docs/openclaw.md for
OpenClaw. Plugboard asks about calls where "approval" is set, whatever that
agent asks.`;

/** The agent that comes with OpenClaw. */
const OPENCLAW = ["openclaw", "acp"];

const EMPTY = "the command of the agent after -- is empty";

/** What does not go together. */
function problemWith({ agent, signIn, agentConfig, openclaw }: AcpRequest): string | undefined {
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

export const COMMANDS = [
  command({
    name: "acp",
    about: "run as an ACP agent, or in front of one",
    usage: ["[options] [-- <command of an agent...>]"],
    args: [{ kind: "any", name: "agent" }],
    options: {
      model: {
        kind: "value",
        name: "--model",
        value: "provider/model",
        about: "use this model unless a session chooses another",
        offers: "model",
      },
      signIn: {
        kind: "optional",
        name: SIGN_IN,
        value: "what",
        about: "sign in to the servers that ask for it, or to a model by its key, and exit",
        choices: ["servers", "model"],
        preset: "servers",
      },
      mcpOverAcp: {
        kind: "flag",
        name: "--mcp-over-acp",
        about: "also take servers that run in the editor itself (an unstable part of ACP)",
      },
      agentConfig: {
        kind: "value",
        name: "--agent-config",
        value: "format",
        about: "the agent reads its servers from a file: tsagent, or a template's path",
        offers: "file",
      },
      openclaw: {
        kind: "optional",
        name: "--openclaw",
        value: "ws-url",
        about: "the agent is OpenClaw; the address of its gateway if it is not found",
      },
    },
    takesProgram: true,
    notes: NOTES,
    examples: [
      "plugboard acp",
      "plugboard acp -- npx -y @agentclientprotocol/claude-agent-acp",
      "plugboard acp --openclaw",
    ],
    hint: "what belongs to another agent comes after --, as in: plugboard acp -- npx -y some-agent",
    traits: { speaksOnStdio: true, sparesHome: true, logs: ["state"] },
    read: (words, given, { behind }): AcpRequest | Mistake => {
      const isOpenclaw = given.openclaw !== undefined;
      const agent = words.length > 0 ? words : isOpenclaw ? OPENCLAW : undefined;
      const request = { ...given, ...(agent && { agent }) };
      const problem = behind?.length === 0 ? EMPTY : problemWith(request);
      return problem === undefined ? request : new Mistake(problem);
    },
    run: async (request, context) => (await import("./acp.ts")).runAcp(request, context),
  }),
];
