// Reads the command line: commands, options, help and what is wrong with it.

import { Command as Parser, CommanderError, InvalidArgumentError, Option } from "commander";
import { closest } from "../../util/closest.ts";
import { packageVersion } from "../../util/version.ts";
import { describeAsk } from "./ask/command.ts";
import { describeAudit } from "./audit/command.ts";
import { EXIT } from "./exit-code.ts";
import { ACP_HELP, CALL_HELP, OVERVIEW_HELP, TOOLS_HELP } from "./help.ts";
import type { Command, GlobalOptions, Invocation } from "./invocation.ts";
import { LOG_LEVELS, type LogThreshold } from "./terminal/log.ts";
import { describeOffers } from "./content/command.ts";
import { describePins } from "./pins/command.ts";
import { describeTrust } from "./trust/command.ts";
import { isVersionFlag } from "./version-flag.ts";

export interface CommandLineOutput {
  out(text: string): void;
  err(text: string): void;
  width: number | undefined;
}

const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export function readCommandLine(argv: readonly string[], output: CommandLineOutput): Invocation {
  let command: Command | undefined;
  const program = describeProgram(output, (chosen) => {
    command = chosen;
  });
  try {
    if (isVersionFlag(argv[0])) return answerVersion(output);
    program.parse(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { kind: "answered", exitCode: error.exitCode === 0 ? EXIT.ok : EXIT.usage };
  }
  if (program.opts()["version"] === true) return answerVersion(output);
  return command === undefined
    ? { kind: "answered", exitCode: EXIT.usage }
    : { kind: "run", command, options: globalOptions(program.opts()) };
}

function answerVersion(output: CommandLineOutput): Invocation {
  output.out(`${packageVersion()}\n`);
  return { kind: "answered", exitCode: EXIT.ok };
}

function describeProgram(output: CommandLineOutput, choose: (command: Command) => void): Parser {
  const program = new Parser("plugboard")
    .description("Plug any MCP server into any agent. Without a command: an overview of the board.")
    .usage("[options] [command]")
    .helpCommand("help [command]", "show help for a command")
    .exitOverride()
    .showHelpAfterError("hint: plugboard --help lists commands and options")
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => output.out(text),
      writeErr: (text) => output.err(text),
      outputError: (text, write) => write(usageError(text)),
      getOutHelpWidth: () => output.width ?? 80,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  addGlobalOptions(program);
  addCommands(program, choose);
  return program
    .allowExcessArguments()
    .addHelpText("after", OVERVIEW_HELP)
    .action(() => {
      const [word] = program.args;
      if (word !== undefined) refuseCommand(program, word);
      choose({ kind: "overview" });
    });
}

function addGlobalOptions(program: Parser): void {
  const level = new Option("--log-level <level>", "what to log on stderr, by default warn");
  program
    .option("--config <file>", "the configuration to use")
    .option("--agent <id>", "the agent of the configuration to be")
    .option("--json", "print JSON on stdout")
    .addOption(level.choices(LOG_LEVELS))
    .option("--verbose", "the same as --log-level info")
    .option("--no-color", "no colours")
    .option("--owner", "call tools that are for the owner alone")
    .option("--exit-with-stdin", "stop when stdin closes: for programs that start plugboard")
    .option("-v, --version", "print the version")
    .helpOption("-h, --help", "show help");
}

function addCommands(program: Parser, choose: (command: Command) => void): void {
  program
    .command("tools")
    .description("list the tools of all servers, or those that match")
    .argument("[query...]", "words to look for in names and descriptions")
    .option("--server <name>", "only the tools of this server")
    .option("--refresh", "ask the servers, even where their tools are known from the cache")
    .option("-l, --long", "show every parameter too")
    .addOption(new Option("--schema").hideHelp())
    .addHelpText("after", TOOLS_HELP)
    .action((query: string[], options: Record<string, unknown>) =>
      choose({
        kind: "tools",
        query,
        ...(typeof options["server"] === "string" && { server: options["server"] }),
        refresh: options["refresh"] === true,
        long: options["long"] === true || options["schema"] === true,
      }),
    );

  program
    .command("call")
    .showHelpAfterError("hint: plugboard call --help shows the ways to give arguments")
    .description("call a tool")
    .argument("<tool>", "its public name, server/tool, or the tool's own name if only one has it")
    .argument("[arguments...]", "JSON, key=value, key:=json, @file, or - for stdin")
    .option("--timeout <ms>", "milliseconds the call may take without progress", milliseconds)
    .option("--output <directory>", "save images, audio and other binary content there")
    .addHelpText("after", CALL_HELP)
    .action((tool: string, args: string[], options: Record<string, unknown>) =>
      choose({
        kind: "call",
        tool,
        args,
        ...(typeof options["timeout"] === "number" && { timeout: options["timeout"] }),
        ...(typeof options["output"] === "string" && { output: options["output"] }),
      }),
    );

  describeAsk(program, choose);
  describeOffers(program, choose);

  program
    .command("status")
    .description("start the servers and show their state in detail")
    .argument("[server]", "everything about this one")
    .action((server: string | undefined) =>
      choose({ kind: "status", ...(server !== undefined && { server }) }),
    );

  describePins(program, choose, refuseCommand);
  describeAudit(program, choose);
  describeTrust(program, choose);

  program
    .command("login")
    .description("sign in to a remote server")
    .argument("<server>", "its name in the configuration")
    .option("--no-browser", "print the address instead of opening a browser")
    .action((server: string, options: Record<string, unknown>) =>
      choose({ kind: "login", server, browser: options["browser"] !== false }),
    );

  program
    .command("logout")
    .description("revoke and forget the tokens of a remote server")
    .argument("<server>", "its name in the configuration")
    .action((server: string) => choose({ kind: "logout", server }));

  program
    .command("acp")
    .description("be an ACP agent on stdio: for editors that start plugboard")
    .addHelpText("after", ACP_HELP)
    .action(() => choose({ kind: "acp" }));

  program
    .command("demo")
    .description("a short tour with the servers that come with Plugboard")
    .action(() => choose({ kind: "demo" }));
}

function globalOptions(given: Record<string, unknown>): GlobalOptions {
  const { config, agent } = given;
  const level = given["verbose"] === true ? "info" : "warn";
  return {
    ...(typeof config === "string" && { config }),
    ...(typeof agent === "string" && { agent }),
    json: given["json"] === true,
    color: given["color"] !== false,
    logLevel: (given["logLevel"] as LogThreshold | undefined) ?? level,
    owner: given["owner"] === true,
    exitWithStdin: given["exitWithStdin"] === true,
  };
}

function milliseconds(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= LONGEST_TIMEOUT_MS) return value;
  throw new InvalidArgumentError("Expected a whole number of milliseconds.");
}

function refuseCommand(program: Parser, word: string): never {
  const meant = closest(
    word,
    program.commands.map((each) => each.name()),
  );
  const hint = meant === undefined ? "" : `\n(Did you mean ${meant}?)`;
  program.error(`error: unknown command '${word}'${hint}`, { exitCode: EXIT.usage });
}

/** The parser's words in the form of every other error here. */
function usageError(text: string): string {
  const line = text
    .trim()
    .replace(/^error: /, "plugboard: ")
    .replace(/\n\(Did you mean (.*)\?\)$/, "; did you mean $1?");
  return `${line}\n`;
}
