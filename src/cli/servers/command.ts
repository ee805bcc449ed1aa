// `plugboard add`, `add-json`, `remove`, `enable`, `disable`, `get`, `list`, `init`, `registry`, `outdated` and `update`
// on the command line.

import { type Command as Parser, InvalidArgumentError, Option } from "commander";
import { ALLOW_INSECURE, ALLOW_PRIVATE } from "../typed/options.ts";
import { SECRET_STORES, type SecretStoreName } from "../../core/types/secret-provider.ts";
import { exceptionsIn, type UrlExceptions } from "../typed-server.ts";
import { examples } from "../examples.ts";

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

export interface AddCommand extends AddOptions, OfferChoice, UrlExceptions {
  kind: "add";
  /** The command with its arguments, the URL, or what is to be looked up in the registry. */
  words: string[];
  env: string[];
  headers: string[];
  transport?: Transport;
}

/** What is said about a server that somebody publishes. */
interface OfferChoice {
  /** Values for its inputs: `KEY=value`. */
  set: string[];
  /** Which way to run it: `remote`, or the type of a package. */
  way?: string;
  registry?: string;
  /** Where the secrets go that are typed for it. Absent: where it fits. */
  secrets?: { to?: SecretStoreName };
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

export interface RegistryCommand {
  kind: "registry";
  words: string[];
  limit: number;
  registry?: string;
}

export interface OutdatedCommand extends Place {
  kind: "outdated";
  registry?: string;
}

export interface UpdateCommand extends Place, Pick<OfferChoice, "set" | "secrets"> {
  kind: "update";
  /** Servers, each with a version behind `@` if it is not the newest. All where it is empty. */
  names: string[];
  yes: boolean;
  /** Start the old and the new version to compare their tools. */
  check: boolean;
  registry?: string;
}

export type ServersCommand =
  | AddCommand
  | AddJsonCommand
  | ChangeCommand
  | GetCommand
  | InitCommand
  | RegistryCommand
  | OutdatedCommand
  | UpdateCommand
  | { kind: "overview" };

const ADD_HELP = `
Shows what would be started or used, asks, connects to it once, and writes it.
What you add is trusted.

In single quotes, \${NAME} stays as it is: the file has the name of the
variable, and the value is read whenever the server starts.

What a server of the registry needs is asked for, or given with --set. A secret
that you type goes into a store, and the file gets a reference to it; with
Enter alone, the file gets the name of a variable that you set yourself.

Examples:
  plugboard add files -- npx -y @modelcontextprotocol/server-filesystem .
  plugboard add docs https://example.com/mcp -H 'Authorization: Bearer \${TOKEN}'
  plugboard add search io.github.owner/server@1.2.0 --set REGION=eu
  plugboard add ./server.mcpb`;

const collect = (value: string, earlier: string[] | undefined): string[] => [
  ...(earlier ?? []),
  value,
];

export function describeServers(program: Parser, choose: (command: ServersCommand) => void): void {
  describeAdd(program, choose);
  describeChanges(program, choose);
  describeRegistry(program, choose);
  within(program.command("get"))
    .description("show how a server is configured, and where")
    .argument("<server>", "its name")
    .addHelpText("after", examples("plugboard get files"))
    .action((name: string, { scope }: Place) => choose({ kind: "get", name, scope }));
  program
    .command("list")
    .alias("ls")
    .description("show your servers, as plugboard alone does")
    .addHelpText("after", examples("plugboard list"))
    .action(() => choose({ kind: "overview" }));
  within(program.command("init"))
    .description("write a first plugboard.json")
    .addHelpText("after", examples("plugboard init", "plugboard init --scope user"))
    .action(({ scope }: Place) => choose({ kind: "init", scope }));
}

interface GivenAdd extends Place, UrlExceptions {
  env?: string[];
  header?: string[];
  transport?: Transport;
  set?: string[];
  package?: string;
  remote?: true;
  registry?: string;
  secrets?: SecretStoreName | true;
  yes?: true;
  check: boolean;
  force?: true;
}

function describeAdd(program: Parser, choose: (command: ServersCommand) => void): void {
  const transport = new Option(
    "-t, --transport <transport>",
    "how to reach it, by default what fits",
  );
  const add = program
    .command("add")
    .description("add a server by its command, URL, registry name or bundle")
    .usage(
      [
        "[options] <name> -- <command> [arguments...]",
        "[options] <name> <url>",
        "[options] [name] <io.github.owner/server[@version]>",
        "[options] [name] <file.mcpb>",
      ].join("\n       plugboard add "),
    )
    .argument("<name>", "what to call it")
    .argument("[words...]", "the command, the URL, or what is looked up")
    .addOption(option("-e, --env <KEY=value>", "a variable for the command; may be repeated"))
    .addOption(option("-H, --header <header>", "a header for the URL; may be repeated"))
    .addOption(transport.choices(TRANSPORTS))
    .addOption(ALLOW_INSECURE)
    .addOption(ALLOW_PRIVATE)
    .addOption(setOption())
    .option("--package <type>", "run it as npm, pypi, oci, nuget or mcpb; by default what fits")
    .option("--remote", "use it at its URL")
    .addOption(registryOption())
    .addOption(secretsOption());
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
        set: given.set ?? [],
        way: given.package ?? (given.remote ? "remote" : undefined),
        registry: given.registry,
        ...secretsIn(given),
      }),
    );
  adding(program.command("add-json"))
    .description("add a server that is written as JSON")
    .argument("<name>", "what to call it")
    .argument("<json>", "the server, also within mcpServers")
    .addHelpText(
      "after",
      examples(`plugboard add-json notes '{ "command": "notes-mcp", "toolPrefix": "n" }'`),
    )
    .action((name: string, json: string, given: GivenAdd) =>
      choose({ kind: "add-json", ...optionsOf(name, given), json }),
    );
}

const REGISTRY_HELP = `
The words must all be in a server's name, title or description.

Examples:
  plugboard registry github issues`;

const OUTDATED_HELP = `
The exit code is 1 if a version is newer or was taken back, and 3 if a registry
could not be asked.

Examples:
  plugboard outdated`;

const UPDATE_HELP = `
Shows the new command, and how the tools change: read the new descriptions,
because a model will. The values that you gave are kept. Nothing is written
before you agree.

Examples:
  plugboard update
  plugboard update search@1.3.0`;

const DEFAULT_LIMIT = 30;
const MOST_FOUND = 500;

function describeRegistry(program: Parser, choose: (command: ServersCommand) => void): void {
  const limit = new Option("--limit <n>", `show at most so many, by default ${DEFAULT_LIMIT}`);
  program
    .command("registry")
    .description("find servers in the MCP registry")
    .argument("<words...>", "what to look for")
    .addOption(limit.argParser(readLimit))
    .addOption(registryOption())
    .addHelpText("after", REGISTRY_HELP)
    .action((words: string[], given: { limit?: number; registry?: string }) =>
      choose({
        kind: "registry",
        words,
        limit: given.limit ?? DEFAULT_LIMIT,
        registry: given.registry,
      }),
    );
  within(program.command("outdated"))
    .description("show which servers have a newer version")
    .addOption(registryOption())
    .addHelpText("after", OUTDATED_HELP)
    .action(({ scope, registry }: Place & { registry?: string }) =>
      choose({ kind: "outdated", scope, registry }),
    );
  within(program.command("update"))
    .description("take newer versions, and see what changes")
    .argument("[servers...]", "only these; a version may stand behind @")
    .addOption(setOption())
    .option("--yes", "do not ask")
    .option("--no-check", "do not start the servers to compare their tools")
    .addOption(registryOption())
    .addOption(secretsOption())
    .addHelpText("after", UPDATE_HELP)
    .action((names: string[], { scope, yes, check, set, registry, secrets }: GivenAdd) =>
      choose({
        kind: "update",
        names,
        scope,
        yes: yes === true,
        check,
        set: set ?? [],
        registry,
        ...secretsIn({ secrets }),
      }),
    );
}

function readLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST_FOUND) return limit;
  throw new InvalidArgumentError(`expected a whole number from 1 to ${MOST_FOUND}`);
}

function setOption(): Option {
  return option(
    "--set <KEY=value>",
    "a value that the server needs, for a secret a reference; may be repeated",
  );
}

function secretsOption(): Option {
  return new Option(
    "--secrets [provider]",
    "where secrets go that you type; by default as for secrets move",
  ).choices(SECRET_STORES);
}

function secretsIn({ secrets: to }: Pick<GivenAdd, "secrets">): Pick<OfferChoice, "secrets"> {
  return to === undefined ? {} : { secrets: to === true ? {} : { to } };
}

function registryOption(): Option {
  return new Option("--registry <url>", "ask this registry; by default the configured one");
}

function describeChanges(program: Parser, choose: (command: ServersCommand) => void): void {
  const change = (kind: ChangeCommand["kind"], description: string): Parser =>
    within(program.command(kind))
      .description(description)
      .argument("<server>", "its name")
      .addHelpText("after", examples(`plugboard ${kind} files`))
      .action((name: string, { scope }: Place) => choose({ kind, name, scope }));
  change("remove", "remove a server").alias("rm");
  change("enable", "let a disabled server start again");
  change("disable", "keep a server, but do not start it");
}

function option(flags: string, description: string): Option {
  return new Option(flags, description).argParser(collect);
}

function within(command: Parser): Parser {
  const scope = new Option(
    "-s, --scope <scope>",
    "which file: the one in this directory, or yours; by default the one in use",
  );
  const choices = ["project", "user"];
  scope.choices(choices).argParser((value: string) => {
    if (choices.includes(value)) return value;
    command.showHelpAfterError(
      "hint: project is plugboard.json in this directory, and user the one in Plugboard's home",
    );
    throw new InvalidArgumentError(`Allowed choices are ${choices.join(", ")}.`);
  });
  return command.addOption(scope);
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
