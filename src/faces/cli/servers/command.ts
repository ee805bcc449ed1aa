// `plugboard add`, `add-json`, `remove`, `enable`, `disable`, `get`, `list` and `init` on the command line.

import { type Command as Parser, Option } from "commander";
import { ALLOW_INSECURE, ALLOW_PRIVATE } from "../typed/options.ts";
import { exceptionsIn, type UrlExceptions } from "../typed-server.ts";

/** Which file: the one in this directory, or the one in Plugboard's home. Without it, the one that is in use. */
export type Scope = "project" | "user";

const TRANSPORTS = ["stdio", "http", "sse"] as const;

type Transport = (typeof TRANSPORTS)[number];

interface Place {
  scope?: Scope;
}

interface AddOptions extends Place {
  name: string;
  yes: boolean;
  /** Connect to it before it is written. */
  check: boolean;
  /** Replace a server of the same name. */
  force: boolean;
}

export interface AddCommand extends AddOptions, UrlExceptions {
  kind: "add";
  /** The command with its arguments, or the URL. */
  words: string[];
  env: string[];
  headers: string[];
  transport?: Transport;
}

export interface AddJsonCommand extends AddOptions {
  kind: "add-json";
  json: string;
}

export interface ChangeCommand extends Place {
  kind: "remove" | "enable" | "disable";
  name: string;
}

export interface GetCommand extends Place {
  kind: "get";
  name: string;
}

export interface InitCommand extends Place {
  kind: "init";
}

export type ServersCommand =
  | AddCommand
  | AddJsonCommand
  | ChangeCommand
  | GetCommand
  | InitCommand
  | { kind: "overview" };

const ADD_HELP = `
Examples:
  plugboard add files -- npx -y @modelcontextprotocol/server-filesystem .
  plugboard add search -e BRAVE_API_KEY='\${BRAVE_API_KEY}' -- npx -y some-server
  plugboard add docs https://example.com/mcp
  plugboard add docs https://example.com/mcp -H 'Authorization: Bearer \${TOKEN}'

Shows what would be started or used, asks, connects to it once, and writes it.
Single quotes keep \${NAME} as it is: the file has the name of the variable, and
the value is read from your environment whenever the server starts.
What you add is trusted. What else is in the file is not, unless it was before.`;

const collect = (value: string, earlier: string[] | undefined): string[] => [
  ...(earlier ?? []),
  value,
];

export function describeServers(program: Parser, choose: (command: ServersCommand) => void): void {
  describeAdd(program, choose);
  describeChanges(program, choose);
  within(program.command("get"))
    .description("show how a server is configured, and where, without starting it")
    .argument("<name>", "the server")
    .action((name: string, { scope }: Place) => choose({ kind: "get", name, scope }));
  program
    .command("list")
    .alias("ls")
    .description("show your servers and their state, as plugboard alone does")
    .action(() => choose({ kind: "overview" }));
  within(program.command("init"))
    .description("write a first plugboard.json, by default in this directory")
    .action(({ scope }: Place) => choose({ kind: "init", scope }));
}

interface GivenAdd extends Place, UrlExceptions {
  env?: string[];
  header?: string[];
  transport?: Transport;
  yes?: true;
  check: boolean;
  force?: true;
}

function describeAdd(program: Parser, choose: (command: ServersCommand) => void): void {
  const transport = new Option("-t, --transport <transport>", "by default what fits");
  const add = program
    .command("add")
    .description("add a server: a command after --, or a URL")
    .usage(
      "[options] <name> -- <command> [arguments...]\n       plugboard add [options] <name> <url>",
    )
    .argument("<name>", "what to call it")
    .argument("[words...]", "the command with its arguments, or the URL")
    .addOption(option("-e, --env <KEY=value>", "a variable for the command; may be repeated"))
    .addOption(option("-H, --header <header>", "a header for the URL; may be repeated"))
    .addOption(transport.choices(TRANSPORTS))
    .addOption(ALLOW_INSECURE)
    .addOption(ALLOW_PRIVATE);
  adding(add)
    .addHelpText("after", ADD_HELP)
    .action((name: string, words: string[], given: GivenAdd) =>
      choose({
        kind: "add",
        ...optionsOf(name, given),
        words,
        env: given.env ?? [],
        headers: given.header ?? [],
        transport: given.transport,
        ...exceptionsIn(given),
      }),
    );
  adding(program.command("add-json"))
    .description("add a server that is written as JSON")
    .argument("<name>", "what to call it")
    .argument("<json>", 'such as \'{ "command": "npx", "args": ["-y", "some-server"] }\'')
    .action((name: string, json: string, given: GivenAdd) =>
      choose({ kind: "add-json", ...optionsOf(name, given), json }),
    );
}

function describeChanges(program: Parser, choose: (command: ServersCommand) => void): void {
  const change = (kind: ChangeCommand["kind"], description: string): Parser =>
    within(program.command(kind))
      .description(description)
      .argument("<name>", "the server")
      .action((name: string, { scope }: Place) => choose({ kind, name, scope }));
  change("remove", "remove a server from the configuration").alias("rm");
  change("enable", "let a server start again that was disabled");
  change("disable", "keep a server in the configuration, but do not start it");
}

function option(flags: string, description: string): Option {
  return new Option(flags, description).argParser(collect);
}

function within(command: Parser): Parser {
  const scope = new Option(
    "-s, --scope <scope>",
    "project: plugboard.json in this directory; user: the one in Plugboard's home; by default the file that is in use",
  );
  return command.addOption(scope.choices(["project", "user"]));
}

function adding(command: Parser): Parser {
  return within(command)
    .option("--yes", "do not ask")
    .option("--no-check", "do not connect to it before it is written")
    .option("--force", "replace a server of the same name");
}

function optionsOf(name: string, { scope, yes, check, force }: GivenAdd): AddOptions {
  return { name, scope, yes: yes === true, check, force: force === true };
}
