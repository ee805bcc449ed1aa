// The reference in docs/cli.md: every command with its usage, arguments, options, notes and examples, in the groups of
// `plugboard --help`. All of it is said in the command's own file, where --help finds it too.

import { commandTree } from "../../dist/cli/command-line.js";

/** An option or a paragraph that so many commands share, word for word, is written once for all of them. */
const SHARED_BY = 2;

/** Where the docs test runs the examples of a command (test/docs/page.ts); by default in a home with two servers. */
const SURROUNDINGS = {
  acp: "home=empty",
  add: "home=empty",
  ask: "home=model",
  call: "home=empty",
  import: "home=applications",
  login:
    'home=empty, type="", before="plugboard add docs https://team.example.com/mcp --yes --no-check"',
  openclaw: 'not-run="needs OpenClaw"',
  record: "home=empty",
  registry: 'not-run="asks the MCP registry"',
  replay: "home=empty",
  serve: "home=empty",
  trace: "home=empty",
  trust: "home=project",
};

/** Needs the MCP registry, or a bundle of yours, so it is in --help alone. */
const ELSEWHERE = /\bio\.github\.|\.mcpb\b/;

/** On the page. --help has all of them. */
const MOST_EXAMPLES = 1;

/** The options of a server that is typed. */
const OF_TYPED = new Set(["--env", "--header", "--allow-insecure", "--allow-private"]);

const program = commandTree();
const help = program.createHelp();

/**
 * What is typed, in a text of --help: a command with its options, an option, or something with characters that Markdown
 * would take for its own.
 */
const COMMAND = `plugboard (?:${program.commands.map((each) => each.name()).join("|")})`;
const CODE = new RegExp(
  `(?<![\\w\`])(?:${COMMAND}(?: --[\\w-]+| -- …)*|--[\\w-]+(?: <[^>]+>)?|[^\\s\`(]*[<*_\${}][^\\s\`]*?)(?=[.,;:)]*(?:\\s|$))`,
  "g",
);
const all = withSubcommands(program);
const sharedOptions = shared(all.flatMap(visibleOptions), optionText);
const sharedNotes = shared(
  all.flatMap((each) => notesOf(each).paragraphs),
  (text) => text,
);

export function generate() {
  const groups = new Map();
  for (const command of help.visibleCommands(program)) {
    const name = command.helpGroup();
    groups.set(name, [...(groups.get(name) ?? []), command]);
  }
  const text = blocks([
    "## Options of every command",
    "They can stand before or after the command.",
    list(visibleOptions(program).map(optionText)),
    "These belong to several commands, and mean the same for each:",
    list([...sharedOptions]),
    ...[...groups].flatMap(([name, commands]) => [
      `## ${name.replace(/:$/, "")}`,
      list(commands.filter(isSmall).map(inOneLine)),
      ...commands.filter((each) => !isSmall(each)).map((each) => described(each, "###")),
    ]),
  ]);
  return [{ page: "docs/cli.md", part: "cli", text }];
}

function described(command, heading) {
  const { paragraphs, examples } = notesOf(command);
  const inside = help.visibleCommands(command);
  const usage = usageOf(command);
  return blocks([
    `${heading} ${nameOf(command)}`,
    ...(usage.length === 1
      ? [`${code(usage[0])}: ${inline(command.description())}`]
      : [sentence(inline(command.description())), list(usage.map(code))]),
    list([
      ...help.visibleArguments(command).filter(isTelling).map(argumentText),
      ...ownOptions(command).map(optionText),
      ...alsoText(command),
    ]),
    ...paragraphs.filter((each) => !sharedNotes.has(each)),
    list(inside.filter(isSmall).map(inOneLine)),
    heading === "###" ? shownExamples(command, examples, usage) : "",
    ...inside.filter((each) => !isSmall(each)).map((each) => described(each, `${heading}#`)),
  ]);
}

function shownExamples(command, examples, usage) {
  const runnable = examples.filter((each) => !ELSEWHERE.test(each));
  const shown = runnable.slice(0, Math.max(MOST_EXAMPLES, usage.length - 1));
  const directive = SURROUNDINGS[command.name()] ?? "home=servers";
  return shown.length === 0 ? "" : blocks([`<!-- test: ${directive} -->`, fenced("sh", shown)]);
}

/** Its usage and its description say everything. */
function isSmall(command) {
  const { paragraphs } = notesOf(command);
  return [...paragraphs, ...ownOptions(command), ...help.visibleCommands(command)].length === 0;
}

function inOneLine(command) {
  const [first] = usageOf(command);
  return [`${code(first)}: ${inline(command.description())}`, ...alsoText(command)].join("; ");
}

/** "the server" says no more than the usage does. */
function isTelling({ description }) {
  return description.split(" ").length > 2;
}

function ownOptions(command) {
  return visibleOptions(command).filter((each) => !sharedOptions.has(optionText(each)));
}

/** A server that is typed has options of its own, which are explained with it. */
function alsoText(command) {
  const others = visibleOptions(command).filter(
    (each) => sharedOptions.has(optionText(each)) && !OF_TYPED.has(each.long),
  );
  return others.length > 0 ? [`also ${others.map((each) => code(each.long)).join(", ")}`] : [];
}

/** What --help says below the options: paragraphs of Markdown, and commands to copy. */
function notesOf(command) {
  let text = "";
  command.emit("afterHelp", { error: false, command, write: (each) => (text += each) });
  const sections = text.split(/\n{2,}/).map((each) => each.replace(/^\n+|\n+$/g, ""));
  const isExamples = (each) => each.startsWith("Examples:\n");
  return {
    paragraphs: sections.filter((each) => each !== "" && !isExamples(each)).map(paragraph),
    examples: sections.filter(isExamples).flatMap((each) => indentedLines(each)),
  };
}

/** Lines that are indented are shown as they are. */
function paragraph(section) {
  const parts = [];
  for (const line of section.split("\n")) {
    const kind = line.startsWith("  ") ? "code" : "text";
    if (parts.at(-1)?.kind === kind) parts.at(-1).lines.push(line);
    else parts.push({ kind, lines: [line] });
  }
  return blocks(
    parts.map(({ kind, lines }) =>
      kind === "code" ? shownLines(lines.map((line) => line.slice(2))) : inline(lines.join(" ")),
    ),
  );
}

/** Commands among the notes are for a shell's own files. */
function shownLines(lines) {
  if (!lines.some((line) => line.startsWith("plugboard "))) return fenced("text", lines);
  const directive = '<!-- test: not-run="changes the files of your shell" -->';
  return blocks([directive, fenced("sh", lines)]);
}

function indentedLines(section) {
  return section
    .split("\n")
    .filter((line) => line.startsWith("  "))
    .map((line) => line.slice(2));
}

function withSubcommands(command) {
  return help.visibleCommands(command).flatMap((each) => [each, ...withSubcommands(each)]);
}

/** --help is an option of every command. */
function visibleOptions(command) {
  return help
    .visibleOptions(command)
    .filter(({ long }) => command === program || long !== "--help" || command.name() === "call");
}

function shared(items, textOf) {
  const times = new Map();
  for (const item of items) times.set(textOf(item), (times.get(textOf(item)) ?? 0) + 1);
  return new Set([...times.keys()].filter((text) => times.get(text) >= SHARED_BY));
}

function nameOf(command) {
  return command === program ? "plugboard" : `${nameOf(command.parent)} ${command.name()}`;
}

/** A server that is typed is explained once, for all commands that take one. */
function usageOf(command) {
  const usage = `${nameOf(command)} ${command.usage()}`.replaceAll(" [options]", "");
  const [first, ...others] = usage.split("\n").map((line) => line.trim());
  return others.some((line) => line.includes("<url> ")) ? [first] : [first, ...others];
}

function optionText(option) {
  const { flags, description, argChoices } = option;
  const choices = argChoices ? ` (${argChoices.join(", ")})` : "";
  return `${code(flags)}: ${inline(description)}${choices}`;
}

function argumentText(argument) {
  return `${code(argument.name())}: ${inline(help.argumentDescription(argument))}`;
}

/** A text of --help as Markdown: what is typed is marked as code, and pages of the docs are links. */
function inline(text) {
  return text.replace(CODE, code).replace(/\bdocs\/([\w-]+)\.md\b/g, "[$1]($1.md)");
}

function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}

function code(text) {
  return `\`${text}\``;
}

function fenced(language, lines) {
  return lines.length === 0 ? "" : ["```" + language, ...lines, "```"].join("\n");
}

function list(items) {
  return items.map((each) => `- ${each}`).join("\n");
}

function blocks(parts) {
  return parts.filter((each) => each !== "").join("\n\n");
}
