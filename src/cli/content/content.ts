// `plugboard resources`, `read`, `prompts` and `prompt`: lists the resources and prompts of all servers, and
// prints one of them.

import type { Board } from "../../core/types/board.ts";
import type { BoardOptions } from "../../core/types/board-options.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import type { Prompt, PromptArgument, PromptMessage } from "../../core/types/prompt.ts";
import type { Resource, ResourceReading, ResourceTemplate } from "../../core/types/resource.ts";
import type { CallOutcome } from "../../core/types/tool.ts";
import { stateToJson } from "../../core/types/server-state.ts";
import { closest } from "../../util/closest.ts";
import { asText, byteSize, oneLine, plural, shellWord } from "../../util/text.ts";
import { invalidArguments } from "../../core/tools/arguments/invalid.ts";
import type { GivenArguments } from "../../core/tools/arguments/parse.ts";
import { readArguments } from "../read-arguments.ts";
import { binaryOf, resultText } from "../call/result.ts";
import { ensureDirectory, saveBinary } from "../call/save.ts";
import type { GetPromptRequest, ListContentRequest, ReadRequest } from "./command.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { serverIn, withBoard } from "../open.ts";
import { unavailableNotes } from "../status/server-state.ts";
import { whileStarting } from "../status/starting.ts";
import { requireReady } from "../typed/require-ready.ts";
import { hasWords, listByServer, type ListLine } from "../terminal/list.ts";

export async function runResources(
  { server, query }: ListContentRequest,
  context: CliContext,
): Promise<number> {
  const list = async (board: Board): Promise<ContentList> => {
    const [listed, patterns] = [await board.resources.list(), await board.resources.templates()];
    const resources = listed.filter((each) => matches(each, each.uri, query));
    const templates = patterns.filter((each) => matches(each, each.uriTemplate, query));
    const lines = [
      ...resources.map((each) => resourceLine(each, each.uri)),
      ...templates.map((each) => resourceLine(each, each.uriTemplate)),
    ];
    const byServer = board
      .status()
      .flatMap(({ name }) => lines.filter((line) => line.server === name));
    return { noun: "resource", lines: byServer, json: { resources, templates } };
  };
  return printList(list, { server, query }, context);
}

export async function runPrompts(
  { server, query }: ListContentRequest,
  context: CliContext,
): Promise<number> {
  const list = async (board: Board): Promise<ContentList> => {
    const prompts = (await board.prompts.list()).filter(
      ({ server: from, name, title, description }) =>
        hasWords([`${from}/${name}`, title, description], query),
    );
    return { noun: "prompt", lines: prompts.map(promptLine), json: { prompts } };
  };
  return printList(list, { server, query }, context);
}

interface ContentList {
  noun: "resource" | "prompt";
  lines: readonly ListLine[];
  /** Printed instead of the lines with --json. */
  json: object;
}

/** Asks the servers for it, and names those that could not be asked. */
function printList(
  list: (board: Board) => Promise<ContentList>,
  { server, query }: ListContentRequest,
  context: CliContext,
): Promise<number> {
  const { screen, options } = context;
  // It may be the name of a server.
  const word = query.length === 1 && options.typed === undefined ? query[0] : undefined;
  const open = { start: "none", keepAlive: true, server, word } as const;
  return withBoard(context, open, async ({ board }) => {
    const { noun, lines, json } = await whileStarting(board, context, list(board));
    requireReady(board, options);
    const servers = board.status();
    if (options.json) {
      const states = servers.map(({ name, state }) => ({ name, state: stateToJson(state) }));
      screen.json({ ...json, servers: states });
      return EXIT.ok;
    }
    screen.lines(listByServer(lines, noun, screen.terminal.out));
    for (const note of unavailableNotes(servers, options)) screen.note(note);
    if (lines.length === 0) {
      screen.note(query.length === 0 ? `no ${noun}s` : `no ${noun} matches '${query.join(" ")}'`);
    }
    return EXIT.ok;
  });
}

function matches(
  each: Resource | ResourceTemplate,
  uri: string,
  query: readonly string[],
): boolean {
  return hasWords([uri, each.server, each.name, each.title, each.description], query);
}

function resourceLine(each: Resource | ResourceTemplate, uri: string): ListLine {
  const { server, name, title, description, mimeType } = each;
  const size = "size" in each && each.size !== undefined ? byteSize(each.size) : undefined;
  const kind = [mimeType, size].filter((part) => part !== undefined).join(", ");
  const about = [title ?? name, ...(kind === "" ? [] : [`(${kind})`]), description ?? ""].join(" ");
  return { server, name: uri, about: about.trim() };
}

/** `demo/greet  who=… [tone=…]  Says hello.` */
function promptLine({ server, name, title, description, arguments: args = [] }: Prompt): ListLine {
  const usage = args.map(asUsed).join(" ");
  const about = [usage, description ?? title ?? ""].filter((part) => part !== "").join("  ");
  return { server, name: `${server}/${name}`, about };
}

function asUsed({ name, required }: PromptArgument): string {
  return required === true ? `${name}=…` : `[${name}=…]`;
}

/** The resource's text goes to stdout, its binary content to files. */
export async function runRead(
  { uri, server, output, yes }: ReadRequest,
  context: CliContext,
): Promise<number> {
  await ensureDirectory(output, context.io.cwd);
  return withBoard(
    context,
    { start: "none", keepAlive: true, server, ...approving(yes) },
    async ({ board }) => {
      const reading = board.resources.read(uri, { server, signal: context.signal });
      await printReading(await whileStarting(board, context, reading), output, context);
      return EXIT.ok;
    },
  );
}

function approving(yes: boolean): Pick<BoardOptions, "onApproval"> {
  return yes ? { onApproval: () => "once" } : {};
}

async function printReading(
  reading: ResourceReading,
  output: string | undefined,
  { screen, options, io }: CliContext,
): Promise<void> {
  const outcome: CallOutcome = {
    content: reading.contents.map((resource) => ({ type: "resource", resource })),
  };
  const saved = await saveBinary(outcome, { directory: output, cwd: io.cwd, name: reading.uri });
  if (options.json) return screen.json(reading);
  screen.text(resultText(outcome, saved));
  if (output === undefined && outcome.content.some((block) => binaryOf(block) !== undefined)) {
    screen.note("hint: --output <directory> saves binary content");
  }
}

/** The server fills in the prompt. */
export async function runPrompt(
  { name, args, yes }: GetPromptRequest,
  context: CliContext,
): Promise<number> {
  const { signal, screen, options } = context;
  // Before the board opens: arguments that cannot be read must not start a server.
  const values = toStrings(await readArguments(args, context));
  return withBoard(
    context,
    {
      start: "none",
      keepAlive: true,
      server: options.typed === undefined ? serverIn(name) : undefined,
      ...approving(yes),
    },
    async ({ board }) => {
      const { prompt, all } = await whileStarting(board, context, findPrompt(name, board));
      if (prompt !== undefined) checkArguments(prompt, values, context);
      const getting = board.prompts.get(name, values, { signal }).catch((error: unknown) => {
        throw prompt === undefined ? unlisted(name, all, error) : error;
      });
      const result = await whileStarting(board, context, getting);
      if (options.json) screen.json(result);
      else screen.text(messagesText(result.messages));
      return EXIT.ok;
    },
  );
}

/** `prompt` is undefined where no list has it: then the server decides what its name means. */
async function findPrompt(
  name: string,
  board: Pick<Board, "prompts" | "status">,
): Promise<{ prompt: Prompt | undefined; all: Prompt[] }> {
  const from = board.status().find((server) => name.startsWith(`${server.name}/`))?.name;
  const own = from === undefined ? name : name.slice(from.length + 1);
  const all = await board.prompts.list(from);
  return { prompt: all.find((each) => each.name === own), all };
}

/** Why getting a prompt failed that its server does not list: most likely there is none. */
function unlisted(name: string, all: readonly Prompt[], error: unknown): unknown {
  if (!(error instanceof PlugboardError) || error.code !== "SERVER_ERROR") return error;
  const names = all.map((each) => `${each.server}/${each.name}`);
  const meant = closest(name, names);
  const { server, message } = error;
  return new PlugboardError(
    "UNKNOWN_PROMPT",
    `there is no prompt named '${oneLine(name, 200)}': ${message}`,
    {
      server,
      hint:
        meant === undefined
          ? `to list them: plugboard prompts${server === undefined ? "" : ` --server ${shellWord(server)}`}`
          : `did you mean '${oneLine(meant, 200)}'?`,
    },
  );
}

/** Refuses what surely fails, as for a tool: a missing argument, a mistyped one. */
function checkArguments(
  { server, name, arguments: wanted = [] }: Prompt,
  values: Record<string, string>,
  { logger }: CliContext,
): void {
  const names = wanted.map((each) => each.name);
  const takes = names.length === 0 ? "no arguments" : names.join(", ");
  const missing = wanted.filter((each) => each.required && !Object.hasOwn(values, each.name));
  const unknown = Object.keys(values).filter((each) => !names.includes(each));
  const problems: string[] = [];
  for (const each of unknown) {
    const meant = closest(each, names);
    if (meant === undefined) {
      logger.warn(`the prompt does not describe '${oneLine(each, 60)}'; it takes ${takes}`, {
        server,
      });
    } else problems.push(`there is no argument '${oneLine(each, 60)}'; did you mean '${meant}'?`);
  }
  if (missing.length > 0) {
    const lines = missing.map((each) => `    ${each.name}  ${oneLine(each.description ?? "", 80)}`);
    const title = `${plural(missing.length, "argument")} missing:`;
    problems.push([title, ...lines.map((line) => line.trimEnd())].join("\n"));
  }
  if (problems.length === 0) return;
  const usage = [shellWord(`${server}/${name}`), ...wanted.map(asUsed)].join(" ");
  throw invalidArguments(problems, `to use it: plugboard prompt ${usage}`);
}

/** The arguments of a prompt are always texts. */
function toStrings({ whole, pairs, loose = [] }: GivenArguments): Record<string, string> {
  const [first] = loose;
  if (first !== undefined) {
    const word = first.kind === "option" ? `--${first.key}` : first.text;
    const hint = "arguments are key=value, key:=json, a JSON object, @file, or - for stdin";
    throw invalidArguments([`unexpected argument '${oneLine(word, 100)}'`], hint);
  }
  const values: Record<string, string> = Object.create(null);
  for (const [key, value] of Object.entries(whole)) values[key] = asText(value);
  const seen = new Set<string>();
  for (const { key, value } of pairs) {
    if (seen.has(key)) throw invalidArguments([`'${key}' is given twice`]);
    seen.add(key);
    values[key] = value.kind === "json" ? asText(value.value) : value.text;
  }
  return values;
}

/** Names the role of each message, unless all are the user's. */
function messagesText(messages: readonly PromptMessage[]): string {
  const isUsersOnly = messages.every(({ role }) => role === "user");
  const parts = messages.map(({ role, content }) => {
    const text = resultText({ content: [content] });
    return isUsersOnly ? text : `${role}:\n${text}`;
  });
  return parts.length === 0 ? "(empty prompt)\n" : parts.join("\n");
}
