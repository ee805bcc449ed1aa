// The slash commands that the user can type instead of a prompt: which exist, and what a typed line means.

import type { AvailableCommand } from "@agentclientprotocol/sdk";
import { PlugboardError } from "../../../core/types/errors.ts";
import type { Prompt } from "../../../core/types/prompt.ts";
import { closest } from "../../../util/closest.ts";
import { oneLine } from "../../../util/text.ts";

const LONGEST_NAME = 128;
const LONGEST_DESCRIPTION = 200;
const MAX_PROMPTS_PER_SERVER = 100;

export interface ServerPromptCommand {
  kind: "prompt";
  prompt: Prompt;
  words: string[];
}

export type SlashCommand =
  | { kind: "tools"; query: string[] }
  /** Puts tools into the model's prompt, or takes them out of it. */
  | { kind: "choose"; action: "add" | "remove"; names: string[] }
  | { kind: "mcp"; words: string[] }
  /** `line` has the tool and its arguments. */
  | { kind: "call"; line: string }
  /** `topic` is a tool, a command or empty. */
  | { kind: "help"; topic: string; commands: AvailableCommand[] }
  | { kind: "resources" }
  | { kind: "read"; uri: string }
  | ServerPromptCommand;

const OWN_COMMANDS: readonly AvailableCommand[] = [
  {
    name: "tools",
    description: "List the tools, or only those that match; add one to the model's, or remove it",
    input: { hint: "words | add <tool> | remove <tool>" },
  },
  {
    name: "mcp",
    description: "Show the state of the MCP servers; reconnect, enable, disable, add or remove one",
    input: {
      hint: "reconnect | enable | disable <server> | add <name> <command or URL> | remove <name>",
    },
  },
  { name: "call", description: "Call a tool", input: { hint: "<tool> key=value …" } },
  { name: "resources", description: "List the resources of the servers" },
  { name: "read", description: "Read a resource", input: { hint: "[server] <uri>" } },
  {
    name: "help",
    description: "List the commands, or show what one tool takes",
    input: { hint: "call | <tool>" },
  },
];

/** Lists a server's first hundred prompts. The others can still be typed by name. */
export function availableCommands(prompts: readonly Prompt[]): AvailableCommand[] {
  const commands = new Map<string, AvailableCommand>();
  const perServer = new Map<string, number>();
  for (const prompt of prompts) {
    const count = (perServer.get(prompt.server) ?? 0) + 1;
    const command = toCommand(prompt);
    if (count > MAX_PROMPTS_PER_SERVER || commands.has(command.name)) continue;
    perServer.set(prompt.server, count);
    commands.set(command.name, command);
  }
  return [...OWN_COMMANDS, ...commands.values()];
}

/** `server:prompt`. Our own commands have no colon in their names, so no server can replace one of them. */
function promptCommandName({ server, name }: Pick<Prompt, "server" | "name">): string {
  return oneLine(`${server}:${name}`, LONGEST_NAME).replaceAll(" ", "_");
}

/** Undefined if the text is not a command: a path or a question may begin with a slash too. */
export function parseCommand(text: string, prompts: readonly Prompt[]): SlashCommand | undefined {
  const match = /^\/(\S+)\s*([^]*)$/.exec(text);
  if (match === null) return undefined;
  const [, name = "", rest = ""] = match;
  const words = rest.split(/\s+/).filter((word) => word !== "");
  switch (name) {
    case "tools": {
      const [action, ...names] = words;
      return action === "add" || action === "remove"
        ? { kind: "choose", action, names }
        : { kind: "tools", query: words };
    }
    case "mcp":
      return { kind: "mcp", words };
    case "call":
      return { kind: "call", line: rest.trim() };
    case "help":
      return { kind: "help", topic: rest.trim(), commands: availableCommands(prompts) };
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

/** What other agents call our commands. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ["status", "mcp"],
  ["servers", "mcp"],
  ["commands", "help"],
]);

/** What to say to a word after a slash that is no command; undefined for a text that is not meant as one. */
export function unknownCommand(text: string, prompts: readonly Prompt[]): string | undefined {
  const [, word] = /^\/([\w:-]{1,128})(?:\s|$)/.exec(text) ?? [];
  if (word === undefined) return undefined;
  const names = availableCommands(prompts).map(({ name }) => name);
  const near = closest(word, [...names, ...OTHER_NAMES.keys()]);
  const meant = near === undefined ? "" : `; did you mean /${OTHER_NAMES.get(near) ?? near}?`;
  return `There is no command /${word}${meant || "."} /help lists the commands.`;
}

function toCommand(prompt: Prompt): AvailableCommand {
  const { arguments: args = [], title, description } = prompt;
  const hint = args.map(({ name, required }) => (required ? `${name}=…` : `[${name}=…]`)).join(" ");
  return {
    name: promptCommandName(prompt),
    description: oneLine(description ?? title ?? "A prompt of this server", LONGEST_DESCRIPTION),
    ...(hint !== "" && { input: { hint: oneLine(hint, LONGEST_DESCRIPTION) } }),
  };
}

/**
 * Reads the words after a prompt's command. `name=value` sets an argument that the prompt has; other words fill the
 * remaining arguments in order, and the last of them takes all that is left. Throws INVALID_ARGUMENTS if a required
 * argument is missing.
 */
export function promptArguments(prompt: Prompt, words: readonly string[]): Record<string, string> {
  const { arguments: wanted = [] } = prompt;
  const values: Record<string, string> = Object.create(null);
  const loose: string[] = [];
  for (const word of words) {
    const at = word.indexOf("=");
    const key = word.slice(0, Math.max(at, 0));
    if (wanted.some(({ name }) => name === key)) values[key] = word.slice(at + 1);
    else loose.push(word);
  }
  const open = wanted.filter(({ name }) => !Object.hasOwn(values, name));
  open.forEach(({ name }, index) => {
    const isLast = index === open.length - 1;
    const text = isLast ? loose.splice(0).join(" ") : loose.shift();
    if (text !== undefined && text !== "") values[name] = text;
  });
  const missing = wanted.filter(({ name, required }) => required && !Object.hasOwn(values, name));
  if (missing.length === 0) return values;
  const names = missing.map(({ name }) => name).join(", ");
  throw new PlugboardError("INVALID_ARGUMENTS", `the prompt ${prompt.name} needs: ${names}`, {
    hint: "write them as name=value",
  });
}
