// Reads the command line: commands, options, help, and what is wrong with it. Each command describes itself
// in its own folder.

import { Command as Parser, CommanderError, Help, Option } from "commander";
import { closest } from "../util/closest.ts";
import { packageVersion } from "../util/version.ts";
import { describeAcp } from "./acp/command.ts";
import { describeApprovals } from "./approvals/command.ts";
import { describeAsk } from "./ask/command.ts";
import { describeAudit } from "./audit/command.ts";
import { describeCall } from "./call/command.ts";
import { describeCompletion } from "./completion/command.ts";
import { describeConnect } from "./connect/command.ts";
import { describeContent } from "./content/command.ts";
import { describeControl } from "./control/command.ts";
import { describeDemo } from "./demo/command.ts";
import { describeDoctor } from "./doctor/command.ts";
import { EXIT } from "./exit-code.ts";
import { globalOptions } from "./context.ts";
import type { CliCommand, Invocation } from "./invocation.ts";
import { describeHelp } from "./help/command.ts";
import { describeGenerateCli } from "./generate-cli/command.ts";
import { describeImport } from "./import/command.ts";
import { describeLogin } from "./login/command.ts";
import { describeOpenclaw } from "./openclaw/command.ts";
import { describePins } from "./pins/command.ts";
import { describeSecrets } from "./secrets/command.ts";
import { describeServe } from "./serve/command.ts";
import { describeServers } from "./servers/command.ts";
import { describeStatus } from "./status/command.ts";
import { LOG_LEVELS } from "./terminal/log.ts";
import { describeTokens } from "./tokens/command.ts";
import { describeTools } from "./tools/command.ts";
import { describeRecording } from "./recording/command.ts";
import { describeReload } from "./reload/command.ts";
import { describeTrace } from "./trace/command.ts";
import { describeTrust } from "./trust/command.ts";
import { describeTypes } from "./types/command.ts";
import { commandsApart } from "./offered-command.ts";
import { hintAtCommand, hintAtServer } from "./typed/mistyped.ts";
import { commandAt, splitWords, type TypedServer } from "./typed-server.ts";
import { describeUp } from "./up/command.ts";

export interface CommandLineOutput {
  out(text: string): void;
  err(text: string): void;
  width: number | undefined;
}

const HELP = `
Examples:
  plugboard import --write
  plugboard connect claude-code
  plugboard add files -- npx -y @modelcontextprotocol/server-filesystem .
  plugboard tools -- npx -y @modelcontextprotocol/server-everything
  plugboard tools time
  plugboard call demo/convert_time time=14:30 from=Berlin to=Tokyo

Exit codes:
  0    ok
  1    the tool reported an error, the model stopped before it was done,
       the output could not be written, the audit is damaged, a server is
       outdated, or the doctor found something broken
  2    wrong usage or configuration, an unknown tool, an untrusted file
  3    the server, the model or a secret is unavailable, or did not answer in
       time
  4    refused: by a rule, without approval, or because the tool has changed
  70   internal error, a bug in Plugboard
  130  interrupted; 129 after SIGHUP, 131 after SIGQUIT, 143 after SIGTERM`;

export function readCommandLine(argv: readonly string[], output: CommandLineOutput): Invocation {
  let command: CliCommand | undefined;
  let typed: TypedServer | undefined;
  let problem = "";
  let hint: string | undefined;
  const { argv: words, behind } = splitWords(argv);
  const program = describeProgram(
    { ...output, onProblem: (text) => (problem = text), onHint: (text) => (hint = text) },
    (chosen, server) => {
      command = chosen;
      typed = server;
    },
    behind,
  );
  const mistyped = hintAtServer(argv);
  if (mistyped !== undefined) {
    const meant = program.commands.find((each) => each.name() === argv[commandAt(argv)]);
    meant?.showHelpAfterError(asHint(mistyped));
  }
  try {
    program.parse(words, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { kind: "answered", exitCode: EXIT.ok };
    // The options may not have been read, since one of them is wrong.
    const wantsJson = argv.slice(0, endOfOptions(argv)).includes("--json");
    return { kind: "answered", exitCode: EXIT.usage, ...(wantsJson && { error: problem, hint }) };
  }
  const { version, V } = program.opts<{ version?: true; V?: true }>();
  if (version || V) {
    output.out(`${packageVersion()}\n`);
    return { kind: "answered", exitCode: EXIT.ok };
  }
  return command === undefined
    ? { kind: "answered", exitCode: EXIT.usage }
    : { kind: "run", command, options: globalOptions(program.opts(), typed) };
}

/** Every command with its arguments, its options and its help. Nothing in it can be run. */
export function commandTree(): Parser {
  const silent = { out: () => {}, err: () => {}, onProblem: () => {}, onHint: () => {} };
  return describeProgram({ ...silent, width: undefined }, () => {}, undefined);
}

function endOfOptions(argv: readonly string[]): number {
  const at = argv.indexOf("--");
  return at === -1 ? argv.length : at;
}

const HINT = "hint: ";

interface ProgramOutput extends CommandLineOutput {
  onProblem(text: string): void;
  onHint(text: string): void;
}

/** `typed` is the server that the command is to use. */
type Choose = (command: CliCommand, typed?: TypedServer) => void;

/** `behind` are the words after `--`, of a command that takes a server there. */
function describeProgram(
  output: ProgramOutput,
  choose: Choose,
  behind: readonly string[] | undefined,
): Parser {
  const program = new Parser("plugboard")
    .description("Plug any MCP server into any agent. Without a command, shows your servers.")
    .usage("[options] [command]")
    .helpCommand(false)
    .exitOverride()
    .showHelpAfterError("hint: for commands and options: plugboard --help")
    .configureHelp({ minWidthToWrap: 20, subcommandTerm, formatHelp, formatItem })
    .configureOutput({
      writeOut: (text) => output.out(fitted(text, output.width)),
      writeErr: (text) => {
        if (text.startsWith(HINT)) output.onHint(text.slice(HINT.length).trim());
        output.err(text);
      },
      outputError: (text, write) => {
        const problem = usageError(text);
        output.onProblem(problem);
        write(`plugboard: ${problem}\n`);
      },
      getOutHelpWidth: () => output.width ?? 80,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  addGlobalOptions(program);
  addCommands(program, choose, behind);
  describeHelp(program, choose, refuseCommand);
  program.commands.forEach((each) => hintAtHelp(each, `plugboard ${each.name()}`));
  const call = program.commands.find((each) => each.name() === "call");
  call?.showHelpAfterError(
    "hint: arguments of a tool are written key=value; to see how: plugboard call --help",
  );
  const add = program.commands.find((each) => each.name() === "add");
  add?.showHelpAfterError(
    "hint: what belongs to the command comes after --, as in: plugboard add files -- npx -y some-server",
  );
  const acp = program.commands.find((each) => each.name() === "acp");
  acp?.showHelpAfterError(
    "hint: what belongs to another agent comes after --, as in: plugboard acp -- npx -y some-agent",
  );
  return program
    .allowExcessArguments()
    .addHelpText("after", HELP)
    .action(() => {
      const [word] = program.args;
      if (word !== undefined) {
        const hint = hintAtCommand(program.args);
        if (hint !== undefined) program.showHelpAfterError(asHint(hint));
        refuseCommand(program, word);
      }
      choose({ kind: "overview" });
    });
}

/** In the list of all commands, names alone: each fits on a line then. */
function subcommandTerm(command: Parser): string {
  const isOutermost = command.parent?.parent === null;
  return isOutermost ? command.name() : Help.prototype.subcommandTerm(command);
}

/** What a command does must not stand below a screen of options that are the same for all. */
const OPTIONS_OF_ALL = `
Options of every command, such as --config and --json, are in:
  plugboard --help
`;
/** On a narrower terminal, descriptions stand below what they describe. */
const NARROW = 60;

function formatItem(term: string, termWidth: number, description: string, help: Help): string {
  const { helpWidth: width = 80 } = help;
  if (width >= NARROW || description === "") {
    return Help.prototype.formatItem.call(help, term, termWidth, description, help);
  }
  const lines = help.boxWrap(description, width - 6).split("\n");
  return [`  ${term}`, ...lines.map((line) => `      ${line}`)].join("\n");
}

/** Paragraphs are written for 80 columns. Lines that are indented stay as they are: they are commands or lists. */
function fitted(text: string, width = 80): string {
  if (width >= 80) return text;
  return text
    .replace(/^(\S.*[^:\n])\n(?=\S)/gm, "$1 ")
    .split("\n")
    .flatMap((line) =>
      /^\s|^Usage:/.test(line) ? [line] : new Help().boxWrap(line, Math.max(40, width)).split("\n"),
    )
    .join("\n");
}

/** The commands come first, then the options that all of them have. */
function formatHelp(command: Parser, help: Help): string {
  const text = Help.prototype.formatHelp(command, help);
  if (command.parent !== null) return `${text}${OPTIONS_OF_ALL}`;
  const [, options = ""] = /\n(Options:\n(?:.+\n)+)/.exec(text) ?? [];
  return `${text.replace(`\n${options}`, "")}\n${options}`;
}

function addGlobalOptions(program: Parser): void {
  const agent = new Option("--agent <id>", "use this agent from the configuration");
  const level = new Option("--log-level <level>", "what to log on stderr, by default warn");
  program
    .option("--config <file>", "use this configuration file, or another application's")
    .addOption(agent.argParser((id, earlier: string[] | undefined) => [...(earlier ?? []), id]))
    .option("--json", "print JSON on stdout")
    .addOption(level.choices(LOG_LEVELS))
    .option("--verbose", "show causes, starts, stops, and what servers write")
    .option("--no-color", "print without colours")
    .option("--owner", "allow tools marked ownerOnly")
    .option("--standalone", "start servers of its own, even if a gateway runs")
    .option("--exit-with-stdin", "stop when stdin closes, for programs that run plugboard")
    .option("-v, --version", "print the version")
    .addOption(new Option("-V").hideHelp())
    .helpOption("-h, --help", "show help");
}

function addCommands(program: Parser, choose: Choose, behind: readonly string[] | undefined): void {
  program.commandsGroup("Your servers:");
  describeServers(program, choose);
  describeImport(program, choose);
  describeConnect(program, choose);
  describeStatus(program, choose);
  describeDoctor(program, choose);
  describeLogin(program, choose, behind);
  describeSecrets(program, choose, refuseCommand);
  program.commandsGroup("Use them:");
  describeTools(program, choose, behind);
  describeCall(program, choose, behind);
  describeAsk(program, choose);
  describeContent(program, choose, behind);
  describeTypes(program, choose, behind);
  describeGenerateCli(program, choose, behind);
  program.commandsGroup("See what they say:");
  describeTrace(program, choose, behind);
  describeRecording(program, choose, behind);
  program.commandsGroup("Decide what they may do:");
  describeTrust(program, choose);
  describePins(program, choose, refuseCommand);
  describeApprovals(program, choose, refuseCommand);
  describeAudit(program, choose);
  program.commandsGroup("Give them to other programs:");
  describeServe(program, choose);
  describeUp(program, choose);
  describeControl(program, choose);
  describeReload(program, choose);
  describeTokens(program, choose, refuseCommand);
  describeAcp(program, choose);
  describeOpenclaw(program, choose, refuseCommand);
  program.commandsGroup("More:");
  describeDemo(program, () => choose({ kind: "demo" }));
  describeCompletion(program, choose);
}

function hintAtHelp(command: Parser, name: string): void {
  command.showHelpAfterError(`hint: to see how to use it: ${name} --help`);
  command.commands.forEach((each) => hintAtHelp(each, `${name} ${each.name()}`));
}

/** The command at its end on a line of its own. */
function asHint(hint: string): string {
  return commandsApart(`hint: ${hint}`, {}).join("\n");
}

/** What other programs for MCP servers call a command of ours. */
const CALLED_ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["delete", "remove"],
  ["uninstall", "remove"],
  ["install", "add"],
  ["show", "get"],
  ["search", "registry"],
  ["find", "tools"],
  ["auth", "login"],
  ["servers", "status"],
  ["logs", "status"],
  ["stop", "down"],
  ["start", "up"],
  ["emit-ts", "types"],
]);

/** `others` are the error codes, where one is understood too. */
function refuseCommand(program: Parser, word: string, others: readonly string[] = []): never {
  const names = [...program.commands.map((each) => each.name()), ...others];
  const [, next = ""] = program.args;
  // `claude mcp add`, `mcporter config add`
  const elsewhere = ["mcp", "config"].includes(word) ? next : CALLED_ELSEWHERE.get(word);
  const meant =
    elsewhere !== undefined && names.includes(elsewhere) ? elsewhere : closest(word, names);
  const hint = meant === undefined ? "" : `\n(Did you mean ${meant}?)`;
  const what = others.length === 0 ? "command" : "command or error code";
  program.error(`error: unknown ${what} '${word}'${hint}`, { exitCode: EXIT.usage });
}

/** Commander's message in the form of every other error here: one sentence, without a full stop. */
function usageError(text: string): string {
  return text
    .trim()
    .replace(/^error: /, "")
    .replace(/\n\(Did you mean (one of )?(.*)\?\)$/, (_, __, names: string) => didYouMean(names))
    .replace(/ argument '([^]*)' is invalid(?=\. )/, " cannot be '$1'")
    .replace(
      /^command-argument value '([^]*)' is invalid for argument '(.*?)'/,
      "$2 cannot be '$1'",
    )
    .replace(EXPECTED, (_, problem: string, choices?: string, expected = "") =>
      choices === undefined
        ? `${problem}; expected ${expected}`
        : `${problem}${expectedOneOf(choices.split(", "), problem)}`,
    );
}

/** At the very end: what a person typed may hold the same words. */
const EXPECTED = /^([^]*)\. (?:Allowed choices are (.*?)|Expected (.*?))\.?$/;

function didYouMean(names: string): string {
  const quoted = names.split(", ").map((name) => `'${name}'`);
  return `; did you mean ${quoted.join(" or ")}?`;
}

/** `problem` ends with what was given, in quotes. */
function expectedOneOf(choices: readonly string[], problem: string): string {
  const [, given = ""] = / cannot be '([^]*)'$/.exec(problem) ?? [];
  const meant = closest(given, choices);
  const last = choices.at(-1) ?? "";
  const others = choices.slice(0, -1).join(", ");
  const expected = others === "" ? last : `${others} or ${last}`;
  return `; expected ${expected}${meant === undefined ? "" : `; did you mean '${meant}'?`}`;
}
