// Answers commands without a model: what a person asks of the board goes straight to it.

import type { StopReason } from "@agentclientprotocol/sdk";
import { cancelled, PlugboardError, withHint } from "../../../model/errors.ts";
import { isJsonObject, type JsonObject } from "../../../model/json.ts";
import type { ContentBlock } from "../../../model/content.ts";
import type { PromptResult } from "../../../model/prompt.ts";
import type { Tool } from "../../../model/tool.ts";
import { untilAborted } from "../../../util/abort.ts";
import { closest } from "../../../util/closest.ts";
import { oneLine, plural } from "../../../util/text.ts";
import type { Command, PromptCommand } from "./commands.ts";
import { quoted, toAcp } from "../wire/content.ts";
import { runMcp } from "./mcp.ts";
import { listLine } from "./list-line.ts";
import type { Turn } from "../responder/responder.ts";
import { promptArguments } from "./prompt-arguments.ts";

const MODEL_ADVICE = "For answers, set `model` in agents.defaults of plugboard.json.";

/** What an agent without a model says to a question. */
export async function answerWithoutModel(
  turn: Turn,
  advice: string = MODEL_ADVICE,
): Promise<StopReason> {
  const count = plural(turn.board.tools().length, "tool");
  turn.say(
    `This agent has no model, so it answers commands alone. ${count} can be used: ` +
      "`/tools` lists them, `/call <tool> {json}` calls one, `/mcp` shows the servers, " +
      `\`/resources\` and \`/read <uri>\` show what they offer to read. ${advice}`,
  );
  return "end_turn";
}

export async function runCommand(command: Command, turn: Turn): Promise<StopReason> {
  try {
    await run(command, turn);
  } catch (error) {
    if (!(error instanceof PlugboardError)) throw error;
    if (!turn.signal.aborted) turn.say(withHint(error));
  }
  return turn.signal.aborted ? "cancelled" : "end_turn";
}

async function run(command: Command, turn: Turn): Promise<void> {
  switch (command.kind) {
    case "tools":
      return listTools(command.query, turn);
    case "mcp":
      return runMcp(command.words, turn);
    case "call":
      return callTool(command.tool, command.json, turn);
    case "resources":
      return listResources(turn);
    case "read":
      return readResource(command.uri, turn);
    case "prompt": {
      const { messages } = await getPrompt(command, turn);
      if (messages.length === 0) turn.say("(empty prompt)");
      for (const { content } of messages) {
        turn.emit(quoted(toAcp(content)));
      }
    }
  }
}

/** Marked as untrusted; undefined where it cannot be had, and that has been said. */
export async function promptForModel(
  command: PromptCommand,
  turn: Turn,
): Promise<ContentBlock[] | undefined> {
  try {
    const result = await getPrompt(command, turn);
    return turn.board.prompts.forModel(result).map(({ content }) => content);
  } catch (error) {
    if (!(error instanceof PlugboardError)) throw error;
    if (!turn.signal.aborted) turn.say(withHint(error));
    return undefined;
  }
}

/** Filled in, as a server words it. */
async function getPrompt(
  { prompt, words }: PromptCommand,
  { board, signal }: Turn,
): Promise<PromptResult> {
  const args = promptArguments(prompt, words);
  return board.prompts.get(`${prompt.server}/${prompt.name}`, args, { signal });
}

function listTools(query: readonly string[], { board, say }: Turn): void {
  const words = query.map((word) => word.toLowerCase());
  const found = board.tools().filter((tool) => {
    const text = `${tool.name} ${tool.description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  if (found.length === 0)
    return say(words.length === 0 ? "There are no tools." : "No tool matches.");
  say(found.map(({ name, description }) => listLine(name, description)).join("\n"));
}

async function callTool(name: string, json: string, turn: Turn): Promise<void> {
  if (name === "") {
    throw new PlugboardError("INVALID_ARGUMENTS", "/call needs the name of a tool", {
      hint: '/call <tool> {"key": "value"}',
    });
  }
  const outcome = await turn.call(findTool(name, turn.board.tools()), parseArguments(json));
  if (!turn.signal.aborted) turn.say(outcome.isError ? "The call failed." : "Done.");
}

/** By its public name or `server/tool`. */
function findTool(name: string, tools: readonly Tool[]): Tool {
  const found = tools.find(
    (tool) =>
      tool.name === name ||
      (tool.source.kind === "mcp" && `${tool.source.server}/${tool.source.tool}` === name),
  );
  if (found !== undefined) return found;
  const meant = closest(
    name,
    tools.map((tool) => tool.name),
  );
  throw new PlugboardError("UNKNOWN_TOOL", `there is no tool "${oneLine(name, 80)}"`, {
    hint: meant === undefined ? "/tools lists them" : `did you mean ${meant}?`,
  });
}

function parseArguments(json: string): JsonObject {
  let value: unknown;
  try {
    value = json === "" ? {} : JSON.parse(json);
  } catch (cause) {
    throw notAnObject("are not valid JSON", cause);
  }
  if (isJsonObject(value)) return value;
  throw notAnObject("are no JSON object");
}

function notAnObject(what: string, cause?: unknown): PlugboardError {
  return new PlugboardError("INVALID_ARGUMENTS", `the arguments ${what}`, {
    hint: 'write them as {"key": "value"}',
    cause,
  });
}

async function listResources({ board, say, signal }: Turn): Promise<void> {
  const listing = Promise.all([board.resources.list(), board.resources.templates()]);
  const [resources, templates] = await untilAborted(listing, signal, cancelled);
  const lines = [
    ...resources.map(({ uri, title, name, server }) =>
      listLine(uri, `[${server}] ${title ?? name}`),
    ),
    ...templates.map(({ uriTemplate, title, name, server }) =>
      listLine(uriTemplate, `[${server}] ${title ?? name}`),
    ),
  ];
  say(lines.length === 0 ? "The servers offer nothing to read." : lines.join("\n"));
}

/** The URI alone, or behind the name of the server that has it. */
async function readResource(what: string, { board, emit, signal }: Turn): Promise<void> {
  const [, server, uri = ""] = /^(?:(\S+)\s+)?(\S+)$/.exec(what) ?? [];
  if (uri === "") {
    throw new PlugboardError("INVALID_ARGUMENTS", "/read needs a URI", {
      hint: "/read <uri>, or /read <server> <uri>",
    });
  }
  const { contents } = await board.resources.read(uri, { signal, ...(server && { server }) });
  for (const resource of contents) {
    const content = toAcp(
      resource.text === undefined
        ? { type: "resource", resource }
        : { type: "text", text: resource.text },
    );
    emit(quoted(content));
  }
}
