// What can come next on a command line, given the words before it. Knows nothing of shells.

import type { Values } from "../option.ts";
import type { CommandGrammar, OptionGrammar } from "./grammar.ts";
import type { KnownKey, KnownNames, KnownTool } from "./known-names.ts";

/** What the shell completes itself, where we have nothing better. */
type ShellValues = "commands" | "directories" | "files";

export interface Candidate {
  /** The whole word. One that ends with `=` or `/` goes on. */
  value: string;
  about?: string;
}

export interface Candidates {
  shell?: ShellValues;
  candidates: readonly Candidate[];
}

export interface Sources {
  grammar: CommandGrammar;
  /** Asked only if a name is wanted. `agent` is the one that was given with --agent, `config` the file. */
  names: (given: { agent?: string; config?: string }) => Promise<KnownNames>;
  /** The files in a directory, as typed; directories end with `/`. */
  files: (directory: string) => string[];
}

/** Above so many tools, their servers are offered first. */
const MANY_TOOLS = 60;

/** `words` are those after `plugboard`; the last one is being typed. */
export async function candidatesFor(
  words: readonly string[],
  sources: Sources,
): Promise<Candidates> {
  const current = words.at(-1) ?? "";
  const place = placeOf(words.slice(0, -1), sources.grammar);
  const { candidates, shell } = await atPlace(place, current, sources);
  return {
    ...(shell && { shell }),
    candidates: candidates.filter(({ value }) => value.startsWith(current)),
  };
}

interface Place {
  command: CommandGrammar;
  /** From the outermost on: options of the outer ones are valid too. */
  path: readonly CommandGrammar[];
  /** Words that are neither commands nor options. */
  positional: readonly string[];
  /** Words after `--`. */
  behind?: readonly string[];
  /** The option whose value comes next. */
  option?: OptionGrammar;
  given: { agent?: string; config?: string };
}

function placeOf(words: readonly string[], grammar: CommandGrammar): Place {
  let command = grammar;
  const path = [grammar];
  const positional: string[] = [];
  const given: Place["given"] = {};
  let option: OptionGrammar | undefined;
  for (const [at, word] of words.entries()) {
    if (option !== undefined && !(option.isOptional && word.startsWith("-"))) {
      if (option.names.includes("--agent")) given.agent = word;
      if (option.names.includes("--config")) given.config = word;
      option = undefined;
      continue;
    }
    option = undefined;
    if (word === "--") {
      return { command, path, positional, behind: words.slice(at + 1), given };
    }
    if (word.startsWith("-") && word !== "-") {
      const [name, value] = parts(word, "=");
      const found = optionNamed(name, path);
      if (found?.values !== undefined && value === undefined) option = found;
      if (name === "--agent" && value !== undefined) given.agent = value;
      if (name === "--config" && value !== undefined) given.config = value;
      continue;
    }
    const next: CommandGrammar | undefined =
      positional.length === 0 ? commandNamed(word, command) : undefined;
    if (next === undefined) {
      positional.push(word);
    } else {
      command = next;
      path.unshift(next);
    }
  }
  return { command, path, positional, given, ...(option && { option }) };
}

async function atPlace(place: Place, current: string, sources: Sources): Promise<Candidates> {
  const { command, path, positional, behind, option } = place;
  if (behind !== undefined && command.takesProgram) {
    return { shell: behind.length === 0 ? "commands" : "files", candidates: [] };
  }
  const options = path.flatMap((each) => each.options);
  if (option?.values !== undefined) {
    const found = await offered(option.values, place, current, sources);
    // What comes next may also be the next option.
    return option.isOptional && current.startsWith("-")
      ? { candidates: optionNames(options) }
      : found;
  }
  if (behind === undefined && current.startsWith("--") && current.includes("=")) {
    const [name, value = ""] = parts(current, "=");
    const values = optionNamed(name, path)?.values;
    if (values === undefined) return { candidates: [] };
    const { candidates } = await offered(values, place, value, sources);
    return { candidates: candidates.map((each) => ({ ...each, value: `${name}=${each.value}` })) };
  }
  if (behind === undefined && current.startsWith("-")) return { candidates: optionNames(options) };
  const words = [...positional, ...(behind ?? [])];
  if (words.length === 0 && command.commands.length > 0) {
    return {
      candidates: command.commands.map(({ name, about }) => ({ value: name, about })),
    };
  }
  const args = command.args;
  const last = args.at(-1);
  const argument = args[words.length] ?? (last?.isVariadic ? last : undefined);
  if (argument !== undefined) return offered(argument.values, place, current, sources);
  // A command that takes no words at all.
  return { candidates: words.length === 0 ? optionNames(command.options) : [] };
}

async function offered(
  values: Values,
  place: Place,
  current: string,
  sources: Sources,
): Promise<Candidates> {
  if (typeof values !== "string") return { candidates: values.map((value) => ({ value })) };
  const names = (): Promise<KnownNames> => sources.names(place.given);
  switch (values) {
    case "file":
      return { shell: "files", candidates: [] };
    case "directory":
      return { shell: "directories", candidates: [] };
    case "own":
      return { candidates: [], ...(/^[./~]/.test(current) && { shell: "files" as const }) };
    case "command":
      return { candidates: commandsBelow(place, sources.grammar) };
    case "agent":
      return { candidates: (await names()).agents.map((value) => ({ value })) };
    case "model":
      return { candidates: (await names()).models.map((value) => ({ value })) };
    case "server":
      return { candidates: (await names()).servers.map((value) => ({ value })) };
    case "target": {
      const { servers, tools } = await names();
      return {
        candidates: current.includes("/")
          ? tools.map(toolCandidate)
          : servers.map((value) => ({ value })),
      };
    }
    case "tool": {
      const server = wordFor("server", place);
      const known = await names();
      return {
        candidates: server === undefined ? toolCandidates(known, current) : toolsOf(server, known),
      };
    }
    case "argument":
      return argumentsOf(place, current, await names(), sources);
  }
}

/** `help` takes the words of a command. */
function commandsBelow({ positional }: Place, grammar: CommandGrammar): Candidate[] {
  const found = positional.reduce<CommandGrammar | undefined>(
    (command, word) => command && commandNamed(word, command),
    grammar,
  );
  return (found?.commands ?? []).map(({ name, about }) => ({ value: name, about }));
}

function toolCandidates({ servers, tools }: KnownNames, current: string): Candidate[] {
  const matching = tools.filter(({ name }) => name.startsWith(current));
  const known = new Set(tools.map(({ name }) => name.slice(0, name.indexOf("/"))));
  const unknown = servers.filter((server) => !known.has(server));
  const open = (server: string): Candidate => ({ value: `${server}/` });
  if (matching.length > MANY_TOOLS && !current.includes("/")) return servers.map(open);
  // A tool can be named alone, too, if no other server has one of that name.
  const own = current === "" ? [] : onlyOnes(tools);
  return [
    ...matching.map(toolCandidate),
    ...unknown.map(open),
    ...own.map(({ name, about }) => ({ value: ownName(name), about })),
  ];
}

function onlyOnes(tools: readonly KnownTool[]): KnownTool[] {
  const times = new Map<string, number>();
  for (const { name } of tools) times.set(ownName(name), (times.get(ownName(name)) ?? 0) + 1);
  return tools.filter(({ name }) => times.get(ownName(name)) === 1);
}

function toolsOf(server: string, { tools }: KnownNames): Candidate[] {
  const own = tools.filter(({ name }) => name.startsWith(`${server}/`));
  return own.map(({ name, about }) => ({ value: ownName(name), about }));
}

/** The word on the line that stands for the argument of this kind. */
function wordFor(values: Values, { command, positional }: Place): string | undefined {
  return positional[command.args.findIndex((each) => each.values === values)];
}

function ownName(name: string): string {
  return name.slice(name.indexOf("/") + 1);
}

function toolCandidate({ name, about }: KnownTool): Candidate {
  return { value: name, about };
}

/** `key=`, the values of a key that has a choice of them, and files after `@`. */
function argumentsOf(
  place: Place,
  current: string,
  { tools }: KnownNames,
  { files }: Sources,
): Candidates {
  const [key, value] = parts(current, "=");
  const path = value ?? current;
  if (path.startsWith("@")) {
    const directory = path.slice(1, path.lastIndexOf("/") + 1);
    const start = current.slice(0, current.length - path.length);
    return {
      candidates: files(directory).map((each) => ({ value: `${start}@${directory}${each}` })),
    };
  }
  const server = wordFor("server", place);
  const tool = wordFor("tool", place) ?? "";
  const keys = toolNamed(server === undefined ? tool : `${server}/${tool}`, tools)?.keys ?? [];
  if (value !== undefined) {
    const { values = [] } = keys.find((each) => each.name === key) ?? {};
    return { candidates: values.map((each) => ({ value: `${key}=${each}` })) };
  }
  const given = new Set(place.positional.map((word) => word.replace(/:?=[^]*$/, "")));
  const left = keys.filter((each: KnownKey) => each.isList === true || !given.has(each.name));
  return { candidates: left.map((each) => ({ value: `${each.name}=`, about: each.about })) };
}

/** By `server/tool`, `server.tool`, or its own name if it is the only one. */
function toolNamed(name: string, tools: readonly KnownTool[]): KnownTool | undefined {
  const exact = tools.find((tool) => tool.name === name || tool.name.replace("/", ".") === name);
  if (exact !== undefined) return exact;
  const same = tools.filter((tool) => ownName(tool.name) === name);
  return same.length === 1 ? same[0] : undefined;
}

function optionNames(options: readonly OptionGrammar[]): Candidate[] {
  const once = new Map(options.map((each) => [each.names[0], each]));
  return [...once.values()].map(({ names, about }) => ({ value: names[0] ?? "", about }));
}

function optionNamed(name: string, path: readonly CommandGrammar[]): OptionGrammar | undefined {
  return path.flatMap(({ options }) => options).find(({ names }) => names.includes(name));
}

function commandNamed(word: string, { commands }: CommandGrammar): CommandGrammar | undefined {
  return commands.find(({ name, aliases }) => name === word || aliases.includes(word));
}

/** Before and after the first separator; one element if there is none. */
function parts(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}
