// The commands somebody may type instead of a prompt: which there are, and what a line asks for.

import type { AvailableCommand } from "@agentclientprotocol/sdk";
import type { Prompt } from "../../../model/prompt.ts";
import { oneLine } from "../../../util/text.ts";

const LONGEST_NAME = 128;
const LONGEST_DESCRIPTION = 200;
/** Of one server. */
const MOST_PROMPTS = 100;

export interface PromptCommand {
  kind: "prompt";
  prompt: Prompt;
  words: string[];
}

export type Command =
  | { kind: "tools"; query: string[] }
  | { kind: "mcp"; words: string[] }
  | { kind: "call"; tool: string; json: string }
  | { kind: "resources" }
  | { kind: "read"; uri: string }
  | PromptCommand;

const OWN: readonly AvailableCommand[] = [
  { name: "tools", description: "List the tools, or those that match", input: { hint: "words" } },
  {
    name: "mcp",
    description:
      "How the MCP servers fare; start one again, switch one off or on, add or remove one",
    input: {
      hint: "reconnect | enable | disable <server> | add <name> <command or URL> | remove <name>",
    },
  },
  { name: "call", description: "Call a tool", input: { hint: '<tool> {"key": "value"}' } },
  { name: "resources", description: "List what the servers offer to read" },
  { name: "read", description: "Read a resource", input: { hint: "[server] <uri>" } },
];

/** Of a server with more prompts than anybody looks through, the others are there for who knows their names. */
export function availableCommands(prompts: readonly Prompt[]): AvailableCommand[] {
  const commands = new Map<string, AvailableCommand>();
  const perServer = new Map<string, number>();
  for (const prompt of prompts) {
    const count = (perServer.get(prompt.server) ?? 0) + 1;
    const command = toCommand(prompt);
    if (count > MOST_PROMPTS || commands.has(command.name)) continue;
    perServer.set(prompt.server, count);
    commands.set(command.name, command);
  }
  return [...OWN, ...commands.values()];
}

/** `server:prompt`: the names of the agent's own commands have no colon, so that none can be taken over. */
function promptCommandName({ server, name }: Pick<Prompt, "server" | "name">): string {
  return oneLine(`${server}:${name}`, LONGEST_NAME).replaceAll(" ", "_");
}

/** Undefined for what is no command: a path or a question may begin with a slash too. */
export function parseCommand(text: string, prompts: readonly Prompt[]): Command | undefined {
  const match = /^\/(\S+)\s*([^]*)$/.exec(text);
  if (match === null) return undefined;
  const [, name = "", rest = ""] = match;
  const words = rest.split(/\s+/).filter((word) => word !== "");
  switch (name) {
    case "tools":
      return { kind: "tools", query: words };
    case "mcp":
      return { kind: "mcp", words };
    case "call": {
      const [, tool = "", json = ""] = /^(\S*)\s*([^]*)$/.exec(rest) ?? [];
      return { kind: "call", tool, json: json.trim() };
    }
    case "resources":
      return { kind: "resources" };
    case "read":
      return { kind: "read", uri: rest.trim() };
    default: {
      const prompt = prompts.find((each) => promptCommandName(each) === name);
      return prompt && { kind: "prompt", prompt, words };
    }
  }
}

function toCommand(prompt: Prompt): AvailableCommand {
  const { arguments: args = [], title, description } = prompt;
  const hint = args.map(({ name, required }) => (required ? `${name}=…` : `[${name}=…]`)).join(" ");
  return {
    name: promptCommandName(prompt),
    description: oneLine(description ?? title ?? "A prompt of the server's", LONGEST_DESCRIPTION),
    ...(hint !== "" && { input: { hint: oneLine(hint, LONGEST_DESCRIPTION) } }),
  };
}
