// The reference in docs/cli.md: every command with its usage, arguments, options, notes and examples, in the groups of
// `plugboard --help`. All of it is said in the command's own file, where --help finds it too.

import { commandTree } from "../../dist/faces/cli/command-line.js";

/** An option or a paragraph that so many commands share, word for word, is written once for all of them. */
const SHARED_BY = 3;

/** What is typed, in a text of --help: an option, or something with characters that Markdown would take for its own. */
const CODE = /(?<![\w`])(?:--[\w-]+(?: <[^>]+>)?|[^\s`(]*[<*_${}][^\s`]*?)(?=[.,;:)]*(?:\s|$))/g;

const program = commandTree();
const help = program.createHelp();
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
      ...commands.map((each) => described(each, "###")),
    ]),
  ]);
  return [{ page: "docs/cli.md", part: "cli", text }];
}

function described(command, heading) {
  const { paragraphs, examples } = notesOf(command);
  const options = visibleOptions(command).map(optionText);
  const common = visibleOptions(command).filter((each) => sharedOptions.has(optionText(each)));
  const inside = help.visibleCommands(command);
  return blocks([
    `${heading} ${nameOf(command)}`,
    sentence(command.description()),
    fenced("text", usageOf(command)),
    list([
      ...help.visibleArguments(command).map(argumentText),
      ...options.filter((each) => !sharedOptions.has(each)),
      ...(common.length > 0 ? [`also ${common.map((each) => code(each.long)).join(", ")}`] : []),
    ]),
    ...paragraphs.filter((each) => !sharedNotes.has(each)),
    fenced("sh", examples),
    list(inside.filter(isSmall).map((each) => `${code(usageOf(each)[0])}: ${each.description()}`)),
    ...inside.filter((each) => !isSmall(each)).map((each) => described(each, `${heading}#`)),
  ]);
}

/** Nothing is left to say after its usage and its description. */
function isSmall(command) {
  const { paragraphs, examples } = notesOf(command);
  return [...paragraphs, ...examples, ...visibleOptions(command)].length === 0;
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
      kind === "code"
        ? fenced(
            "text",
            lines.map((line) => line.slice(2)),
          )
        : inline(lines.join(" ")),
    ),
  );
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

function usageOf(command) {
  const usage = `${nameOf(command)} ${command.usage()}`.replaceAll(" [options]", "");
  return usage.split("\n").map((line) => line.trim());
}

function optionText(option) {
  return `${code(option.flags)}: ${inline(help.optionDescription(option))}`;
}

function argumentText(argument) {
  return `${code(argument.name())}: ${inline(help.argumentDescription(argument))}`;
}

/** A text of --help as Markdown: what is typed is marked as code, and pages of the docs are links. */
function inline(text) {
  return text.replace(CODE, code).replace(/\bdocs\/([\w-]+)\.md\b/g, "[$1]($1.md)");
}

function sentence(text) {
  return inline(`${text[0].toUpperCase()}${text.slice(1)}.`);
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
