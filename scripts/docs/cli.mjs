// The reference in docs/cli.md: every command with its usage, arguments, options, notes and examples, in the groups of
// `plugboard --help`. All of it is said in the command's own file, where --help finds it too.

import { importSource } from "../sources.mjs";

const { flagsOf } = await importSource("cli/option.ts");
const { loadGroups, PLUGBOARD } = await importSource("cli/commands.ts");
const { HELP } = await importSource("cli/context.ts");
const { notesOf, shownArguments, shownOptions, usageOf } = await importSource(
  "cli/help/command-page.ts",
);

/** An option or a paragraph that so many commands share, word for word, is written once for all of them. */
const SHARED_BY = 2;

/** Where the docs test runs the examples of a command (test/docs/page.ts); by default in a home with two servers. */
const SURROUNDINGS = {
  acp: "home=empty",
  add: "home=empty",
  ask: "home=model",
  deploy: 'not-run="needs gateway.shared"',
  import: "home=applications",
  login:
    'home=empty, type="", before="plugboard add docs https://team.example.com/mcp --yes --no-check"',
  logs: 'not-run="needs a running gateway"',
  ui: 'not-run="needs a running gateway"',
  openclaw: 'not-run="needs OpenClaw"',
  record: "home=default",
  registry: 'not-run="asks the MCP registry"',
  undo: 'home=servers, before="plugboard disable files"',
  replay: 'home=servers, before="plugboard record files files.jsonl list_allowed_directories"',
  serve: "home=empty",
  trust: "home=project",
};

/** Needs the MCP registry, or a bundle of yours, so it is in --help alone. */
const ELSEWHERE = /\bio\.github\.|\.mcpb\b/;

/** On the page. --help has all of them. */
const MOST_EXAMPLES = 1;

/** The options of a server that is typed. */
const OF_TYPED = new Set(["--env", "--header", "--allow-insecure", "--allow-private"]);

const groups = await loadGroups();
const outermost = groups.flatMap(({ commands }) => commands);

/**
 * What is typed, in a text of --help: a command with its options, an option, or something with characters that Markdown
 * would take for its own.
 */
const COMMAND = `plugboard (?:${outermost.map(({ name }) => name).join("|")})`;
const CODE = new RegExp(
  `(?<![\\w\`])(?:${COMMAND}(?: --[\\w-]+| -- …)*|--[\\w-]+(?: <[^>]+>)?|[^\\s\`(]*[<*_\${}][^\\s\`]*?)(?=[.,;:)]*(?:\\s|$))`,
  "g",
);
const all = outermost.flatMap((each) => [each, ...each.commands]);
const sharedOptions = shared(all.flatMap(visibleOptions), optionText);
const sharedNotes = shared(all.flatMap(paragraphsOf), (text) => text);

export function generate() {
  const text = blocks([
    "## Options of every command",
    "They can stand before or after the command.",
    list(shownOptions(PLUGBOARD).map(optionText)),
    "These belong to several commands, and mean the same for each:",
    list([...sharedOptions]),
    ...groups.flatMap(({ title, commands }) => [
      `## ${title}`,
      list(commands.filter(isSmall).map((each) => inOneLine(each, "plugboard"))),
      ...commands
        .filter((each) => !isSmall(each))
        .map((each) => described(each, "plugboard", "###")),
    ]),
  ]);
  return [{ page: "docs/cli.md", part: "cli", text }];
}

/** `within` are the words before its name. */
function described(command, within, heading) {
  const { about, commands } = command;
  const path = `${within} ${command.name}`;
  const usage = usageLines(command, within);
  return blocks([
    `${heading} ${path}`,
    ...(usage.length === 1
      ? [`${code(usage[0])}: ${inline(about)}`]
      : [sentence(inline(about)), list(usage.map(code))]),
    list([
      ...shownArguments(command).filter(isTelling).map(argumentText),
      ...ownOptions(command).map(optionText),
      ...alsoText(command),
    ]),
    ...paragraphsOf(command).filter((each) => !sharedNotes.has(each)),
    list(commands.filter(isSmall).map((each) => inOneLine(each, path))),
    heading === "###" ? shownExamples(command, usage) : "",
    ...commands
      .filter((each) => !isSmall(each))
      .map((each) => described(each, path, `${heading}#`)),
  ]);
}

function shownExamples({ name, examples }, usage) {
  const runnable = examples.filter((each) => !ELSEWHERE.test(each));
  const shown = runnable.slice(0, Math.max(MOST_EXAMPLES, usage.length - 1));
  const directive = SURROUNDINGS[name] ?? "home=servers";
  return shown.length === 0 ? "" : blocks([`<!-- test: ${directive} -->`, fenced("sh", shown)]);
}

/** Its usage and its description say everything. */
function isSmall(command) {
  return [...paragraphsOf(command), ...ownOptions(command), ...command.commands].length === 0;
}

function inOneLine(command, within) {
  const [first] = usageLines(command, within);
  return [`${code(first)}: ${inline(command.about)}`, ...alsoText(command)].join("; ");
}

/** "the server" says no more than the usage does. */
function isTelling({ about = "" }) {
  return about.split(" ").length > 2;
}

function ownOptions(command) {
  return visibleOptions(command).filter((each) => !sharedOptions.has(optionText(each)));
}

/** A server that is typed has options of its own, which are explained with it. */
function alsoText(command) {
  const others = visibleOptions(command).filter(
    (each) => sharedOptions.has(optionText(each)) && !OF_TYPED.has(each.name),
  );
  return others.length > 0 ? [`also ${others.map((each) => code(each.name)).join(", ")}`] : [];
}

/** What --help says below the options, as Markdown. */
function paragraphsOf(command) {
  return notesOf(command).flatMap((text) =>
    text
      .trim()
      .split(/\n{2,}/)
      .map(paragraph),
  );
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

/** --help is an option of every command, and told only where it is more. */
function visibleOptions(command) {
  return shownOptions(command).filter((option) => option !== HELP);
}

function shared(items, textOf) {
  const times = new Map();
  for (const item of items) times.set(textOf(item), (times.get(textOf(item)) ?? 0) + 1);
  return new Set([...times.keys()].filter((text) => times.get(text) >= SHARED_BY));
}

/** A server that is typed is explained once, for all commands that take one. */
function usageLines(command, within) {
  const [first, ...others] = usageOf(command).map((usage) =>
    `${within} ${command.name} ${usage}`.replaceAll(" [options]", ""),
  );
  return others.some((line) => line.includes("<url> ")) ? [first] : [first, ...others];
}

function optionText(option) {
  const { about, choices } = option;
  const listed = choices === undefined ? "" : ` (${choices.join(", ")})`;
  return `${code(flagsOf(option))}: ${inline(about)}${listed}`;
}

function argumentText(argument) {
  return `${code(argument.name)}: ${inline(argument.about)}`;
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
