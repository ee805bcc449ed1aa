// Runs the slash commands. They go straight to the board, without a model.

import type { AvailableCommand, SessionUpdate, StopReason } from "@agentclientprotocol/sdk";
import { assembleArguments } from "../../../core/tools/arguments/assemble.ts";
import { invalidArguments } from "../../../core/tools/arguments/invalid.ts";
import {
  type ArgumentSources,
  literalAt,
  parseArguments,
} from "../../../core/tools/arguments/parse.ts";
import { splitWords } from "../../../core/tools/arguments/split-words.ts";
import { cancelled, PlugboardError, withHint } from "../../../core/types/errors.ts";
import type { ContentBlock } from "../../../core/types/content.ts";
import type { JsonObject } from "../../../core/types/json.ts";
import type { PromptResult } from "../../../core/types/prompt.ts";
import type { SessionBoard } from "../../../core/types/board.ts";
import { type CallOutcome, canonicalName, type Tool } from "../../../core/types/tool.ts";
import { untilAborted } from "../../../util/abort.ts";
import { capitalised, oneLine, plural, shellWord } from "../../../util/text.ts";
import { quoted, toAcp } from "../wire/content.ts";
import { type SlashCommand, type ServerPromptCommand, promptArguments } from "./commands.ts";
import { callHelp, commandHelp, toolHelp } from "./help.ts";
import { type McpContext, runMcp } from "./mcp.ts";

const LONGEST_IN_LIST = 160;

/** What a command needs of the session it was typed in. */
export interface CommandContext extends McpContext {
  readonly board: McpContext["board"] &
    Pick<
      SessionBoard,
      "tools" | "find" | "search" | "include" | "exclude" | "resources" | "prompts"
    >;
  /** Shows an update and keeps it in the history. */
  readonly emit: (update: SessionUpdate) => void;
  /** Shows a notice without keeping it in the history. */
  /** `info` is no part of the answer, also for a client that does not show notices. Default `warning`. */
  readonly notify: (text: string, severity?: "info" | "warning") => void;
  /** Calls the tool, and shows the call from start to end. */
  readonly call: (tool: Tool, args: JsonObject) => Promise<CallOutcome>;
}

const MODEL_ADVICE = "For answers, set `model` in agents.defaults of plugboard.json.";

/** What an agent without a model has to say to anything that is not a command. */
export function withoutModel(
  { board }: Pick<CommandContext, "board">,
  advice: string = MODEL_ADVICE,
): PlugboardError {
  const count = plural(board.tools().length, "tool");
  const message =
    `this agent has no model, so it answers only commands. ${count} can be used: ` +
    "`/tools` lists them, `/call <tool> key=value …` calls one, `/help` shows all commands";
  return new PlugboardError("NO_MODEL", message, { hint: advice, permanent: true });
}

export async function runCommand(
  command: SlashCommand,
  context: CommandContext,
): Promise<StopReason> {
  await run(command, context).catch((error) => sayProblem(error, context));
  return context.signal.aborted ? "cancelled" : "end_turn";
}

async function run(command: SlashCommand, context: CommandContext): Promise<void> {
  switch (command.kind) {
    case "tools":
      return listTools(command.query, context);
    case "choose":
      return chooseTools(command.action, command.names, context);
    case "mcp":
      return runMcp(command.words, context);
    case "call":
      return callTool(command.line, context);
    case "help":
      return help(command.topic, command.commands, context);
    case "resources":
      return listResources(context);
    case "read":
      return readResource(command.uri, context);
    case "prompt": {
      const { messages } = await getPrompt(command, context);
      if (messages.length === 0) context.say("(empty prompt)");
      for (const { content } of messages) context.emit(quoted(toAcp(content)));
    }
  }
}

/** A server's prompt, marked as untrusted. Undefined if the server did not give it; the user has been told why. */
export async function promptForModel(
  command: ServerPromptCommand,
  context: CommandContext,
): Promise<ContentBlock[] | undefined> {
  return getPrompt(command, context)
    .then((result) => context.board.prompts.forModel(result).map(({ content }) => content))
    .catch((error) => sayProblem(error, context));
}

/** Throws any other error than a PlugboardError again. */
function sayProblem(error: unknown, { signal, say }: CommandContext): undefined {
  if (!(error instanceof PlugboardError)) throw error;
  if (signal.aborted) return;
  const { message, hint } = error;
  // A hint at the end of several lines would look like a part of the last one.
  const isLong = message.includes("\n") && hint !== undefined;
  say(isLong ? `${message}\n\n${capitalised(hint)}.` : withHint(error));
}

async function getPrompt(
  { prompt, words }: ServerPromptCommand,
  { board, signal }: CommandContext,
): Promise<PromptResult> {
  const args = promptArguments(prompt, words);
  return board.prompts.get(`${prompt.server}/${prompt.name}`, args, { signal });
}

async function listTools(query: readonly string[], { board, say }: CommandContext): Promise<void> {
  const named = board.tools().find((tool) => canonicalName(tool) === query.join(" "));
  if (named !== undefined) return say(await toolHelp(named));
  const words = query.map((word) => word.toLowerCase());
  const found = board.tools().filter((tool) => {
    const text = `${canonicalName(tool)} ${tool.name} ${tool.description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const hits =
    found.length > 0 || words.length === 0
      ? []
      : await board.search(query.join(" "), { all: true });
  const tools = [...found, ...hits.map(({ tool }) => tool)];
  if (tools.length === 0)
    return say(words.length === 0 ? "There are no tools." : "No tool matches.");
  say(tools.map(toolLine).join("\n"));
}

const HOW_FOUND: Readonly<Partial<Record<NonNullable<Tool["include"]>, string>>> = {
  agent: " (the model finds it by search)",
  manual: " (not for the model)",
  app: " (for the server's app)",
};

function toolLine(tool: Tool): string {
  const how = tool.include && HOW_FOUND[tool.include];
  return `${listLine(canonicalName(tool), tool.description)}${how ?? ""}`;
}

async function chooseTools(
  action: "add" | "remove",
  names: readonly string[],
  { board, say, signal }: CommandContext,
): Promise<void> {
  if (names.length === 0) {
    throw new PlugboardError("INVALID_ARGUMENTS", `/tools ${action} needs the name of a tool`, {
      hint: `/tools ${action} <tool>, and /tools lists the tools`,
    });
  }
  // All are found before anything changes.
  const tools = await Promise.all(names.map((name) => board.find(name, { signal })));
  const chosen = tools.map((tool) =>
    canonicalName(action === "add" ? board.include(tool) : board.exclude(tool)),
  );
  const list = chosen.map((name) => oneLine(name, LONGEST_IN_LIST)).join(", ");
  const are = chosen.length === 1 ? "is" : "are";
  say(
    action === "add"
      ? `${list} ${are} among the model's tools for the rest of this session.`
      : `${list} ${are} not among the model's tools for the rest of this session. /call still works.`,
  );
}

async function callTool(line: string, context: CommandContext): Promise<void> {
  const [name, ...words] = splitWords(line);
  if (name === undefined) {
    throw new PlugboardError("INVALID_ARGUMENTS", "/call needs the name of a tool", {
      hint: "/call <tool> key=value …, and /tools lists the tools",
    });
  }
  const { board, call, signal, say, notify } = context;
  if (words.length === 1 && words[0] === "--help") {
    return say(await toolHelp(await board.find(name, { signal })));
  }
  const given = await parseArguments(words, SOURCES);
  const tool = await board.find(name, { signal });
  const hint = `/help ${shellWord(canonicalName(tool))} shows its parameters`;
  const { args, problem, warnings } = assembleArguments(given, tool.parameters, hint);
  // A tool that a rule hides is refused and audited whatever its arguments are.
  const isListed = board.tools().some((each) => each.name === tool.name);
  if (problem !== undefined && isListed) throw problem;
  for (const warning of warnings) notify(`${canonicalName(tool)}: ${warning}`);
  const outcome = await call(tool, args);
  if (!signal.aborted) say(outcome.isError ? "The call failed." : "Done.");
}

/** A session has no stdin. Whoever writes a prompt need not be allowed to read the agent's files. */
const SOURCES: ArgumentSources = {
  async file(path, key) {
    const hint = key === undefined ? undefined : literalAt(key);
    throw invalidArguments([`/call does not read files, so @${path} cannot be used`], hint);
  },
  async stdin() {
    throw invalidArguments(["/call has no stdin to read from"]);
  },
};

async function help(
  topic: string,
  commands: readonly AvailableCommand[],
  { board, say, signal }: CommandContext,
): Promise<void> {
  const word = topic.replace(/^\//, "");
  if (word === "") return say(commandHelp(commands));
  if (word === "call") return say(callHelp());
  const command = commands.find(({ name }) => name === word);
  if (command !== undefined) return say(commandHelp([command]));
  const [name = ""] = splitWords(topic);
  say(await toolHelp(await board.find(name, { signal })));
}

async function listResources({ board, say, signal }: CommandContext): Promise<void> {
  const listing = Promise.all([board.resources.list(), board.resources.templates()]);
  const [resources, templates] = await untilAborted(listing, signal, cancelled);
  const templatesByUri = templates.map((each) => ({ ...each, uri: each.uriTemplate }));
  const lines = [...resources, ...templatesByUri].map(({ uri, title, name, server }) =>
    listLine(uri, `[${server}] ${title ?? name}`),
  );
  say(lines.length === 0 ? "The servers have no resources." : lines.join("\n"));
}

/** `what` is a URI, or a server's name and a URI. */
async function readResource(what: string, { board, emit, signal }: CommandContext): Promise<void> {
  const [, server, uri = ""] = /^(?:(\S+)\s+)?(\S+)$/.exec(what) ?? [];
  if (uri === "") {
    throw new PlugboardError("INVALID_ARGUMENTS", "/read needs a URI", {
      hint: "/read <uri>, or /read <server> <uri>",
    });
  }
  const { contents } = await board.resources.read(uri, { signal, server });
  for (const resource of contents) {
    const content = toAcp(
      resource.text === undefined
        ? { type: "resource", resource }
        : { type: "text", text: resource.text },
    );
    emit(quoted(content));
  }
}

function listLine(name: string, about: string): string {
  return `- ${oneLine(name, LONGEST_IN_LIST)}: ${oneLine(about, LONGEST_IN_LIST)}`;
}
