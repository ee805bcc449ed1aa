// The commands: what each takes on the command line, and its help. `main.ts` runs them.

import { type Command as Parser, InvalidArgumentError, Option } from "commander";
import { closest } from "../../util/closest.ts";
import { EXIT } from "./exit-code.ts";

export type CliCommand =
  | { kind: "overview" }
  | ToolsCommand
  | CallCommand
  | AskCommand
  | ListContentCommand
  | ReadCommand
  | GetPromptCommand
  | { kind: "status"; server?: string }
  | PinsCommand
  | AuditCommand
  | TrustCommand
  | LoginCommand
  | { kind: "logout"; server: string }
  | { kind: "acp" }
  | { kind: "demo" };

type Choose = (command: CliCommand) => void;

/** In the order in which the help lists them. */
export function describeCommands(program: Parser, choose: Choose): void {
  describeTools(program, choose);
  describeCall(program, choose);
  describeAsk(program, choose);
  describeContent(program, choose);
  describeStatus(program, choose);
  describePins(program, choose);
  describeAudit(program, choose);
  describeTrust(program, choose);
  describeLogin(program, choose);
  describeAcp(program, choose);
  describeDemo(program, choose);
}

export interface ToolsCommand {
  kind: "tools";
  /** Words that must all be found. */
  query: string[];
  server?: string;
  refresh: boolean;
  /** With parameters. */
  long: boolean;
}

const TOOLS_HELP = `
Tools known from an earlier run are listed from the cache, without starting
their server.`;

function describeTools(program: Parser, choose: Choose): void {
  program
    .command("tools")
    .description("list the tools of all servers, or search them")
    .argument("[query...]", "words to look for in names and descriptions")
    .option("--server <name>", "only tools of this server")
    .option("--refresh", "ask the servers instead of using the cache")
    .option("-l, --long", "show the parameters too")
    .addOption(new Option("--schema").hideHelp())
    .addHelpText("after", TOOLS_HELP)
    .action((query: string[], options: Partial<ToolsCommand> & { schema?: true }) => {
      const { server, refresh = false, long = false, schema = false } = options;
      choose({ kind: "tools", query, server, refresh, long: long || schema });
    });
}

export interface CallCommand {
  kind: "call";
  tool: string;
  args: string[];
  /** Milliseconds. */
  timeout?: number;
  /** Where binary content is saved. */
  output?: string;
}

const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

const CALL_HELP = `
Ways to give arguments:
  '{"text": "hi", "top": 3}'     one JSON object
  text=hi top=3                  converted to the types in the tool's schema
  tag=a tag=b                    repeat a key to make a list
  place.city=Oslo                set one field of an object
  filter:='{"a": [1, 2]}'        JSON, passed on unchanged
  text=@notes.txt                read a value from a file; text=@- from stdin
  @arguments.json                read a JSON object from a file; - from stdin

Examples:
  plugboard call demo/convert_units value=98.6 from=°F to=°C
  plugboard call mcp__demo__current_time zone=Tokyo --json`;

function describeCall(program: Parser, choose: Choose): void {
  program
    .command("call")
    .showHelpAfterError("hint: plugboard call --help shows the ways to give arguments")
    .description("call a tool")
    .argument("<tool>", "public name, server/tool, or the tool's name if it is unique")
    .argument("[arguments...]", "key=value, key:=json, a JSON object, @file, or - for stdin")
    .option("--timeout <ms>", "milliseconds the call may take without progress", milliseconds)
    .option("--output <directory>", "save images, audio and other binary content there")
    .addHelpText("after", CALL_HELP)
    .action((tool: string, args: string[], options: Pick<CallCommand, "timeout" | "output">) =>
      choose({ kind: "call", tool, args, timeout: options.timeout, output: options.output }),
    );
}

function milliseconds(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= LONGEST_TIMEOUT_MS) return value;
  throw new InvalidArgumentError("Expected a whole number of milliseconds.");
}

export interface AskCommand {
  kind: "ask";
  /** Words of the prompt; `-` alone is stdin. */
  prompt: string[];
  /** `provider/model` */
  model?: string;
  /** Every call may be made. */
  yes: boolean;
}

const ASK_HELP = `
The answer goes to stdout, the tool calls to stderr. With --json every event is
one line of JSON on stdout.

You are asked before a call that may change something, unless the configuration
says otherwise, and before a server uses the model, where its "sampling" setting
allows that at all. Without a terminal to ask on, both are refused. --yes allows
everything.

Examples:
  plugboard ask "What time is it in Tokyo?" --yes
  plugboard ask --model ollama/qwen3 - < question.txt`;

function describeAsk(program: Parser, choose: Choose): void {
  program
    .command("ask")
    .description("send a prompt to a model that can use the tools of all servers")
    .argument("<prompt...>", "the prompt; - reads it from stdin")
    .option("--model <provider/model>", "use this model instead of the configured one")
    .option("--yes", "allow every call without asking")
    .addHelpText("after", ASK_HELP)
    .action((prompt: string[], { model, yes = false }: Partial<AskCommand>) =>
      choose({ kind: "ask", prompt, model, yes }),
    );
}

export interface ListContentCommand {
  kind: "resources" | "prompts";
  /** Words that must all be found. */
  query: string[];
  server?: string;
}

export interface ReadCommand {
  kind: "read";
  uri: string;
  server?: string;
  /** Where binary content is saved. */
  output?: string;
}

export interface GetPromptCommand {
  kind: "prompt";
  name: string;
  args: string[];
}

function describeContent(program: Parser, choose: Choose): void {
  program
    .command("resources")
    .description("list the resources of all servers, or search them")
    .argument("[query...]", "words to look for in URIs, names and descriptions")
    .option("--server <name>", "only resources of this server")
    .action((query: string[], { server }: { server?: string }) =>
      choose({ kind: "resources", query, server }),
    );

  program
    .command("read")
    .description("read a resource")
    .argument("<uri>", "as listed by resources, or made from a template")
    .option("--server <name>", "the server that has it; no other is started")
    .option("--output <directory>", "save binary content there")
    .action((uri: string, { server, output }: Pick<ReadCommand, "server" | "output">) =>
      choose({ kind: "read", uri, server, output }),
    );

  program
    .command("prompts")
    .description("list the prompts of all servers, or search them")
    .argument("[query...]", "words to look for in names and descriptions")
    .option("--server <name>", "only prompts of this server")
    .action((query: string[], { server }: { server?: string }) =>
      choose({ kind: "prompts", query, server }),
    );

  program
    .command("prompt")
    .description("fill in a prompt and show it")
    .argument("<name>", "server/prompt, or the prompt's name if it is unique")
    .argument("[arguments...]", "key=value, a JSON object, @file, or - for stdin")
    .action((name: string, args: string[]) => choose({ kind: "prompt", name, args }));
}

function describeStatus(program: Parser, choose: Choose): void {
  program
    .command("status")
    .description("start the servers and show their state in detail")
    .argument("[server]", "show everything about this server")
    .action((server: string | undefined) => choose({ kind: "status", server }));
}

export interface PinsCommand {
  kind: "pins";
  action:
    | { kind: "list" }
    /** `target` is `server/tool`, or a server for everything it has. */
    | { kind: "show" | "approve" | "forget"; target: string }
    | { kind: "forget-all" };
}

const PINS_HELP = `
A pin is a tool's definition as it was first seen. With "pins": "block", a tool
that is new or has changed since is refused until you approve it.

After you forget a server, its tools are pinned again when they are next seen;
after you forget a tool, it counts as new.`;

function describePins(program: Parser, choose: Choose): void {
  const act = (action: PinsCommand["action"]): void => choose({ kind: "pins", action });
  const pins = program
    .command("pins")
    .description("show pinned tool definitions and what changed since, and approve changes")
    .usage("[options] [command]")
    .addHelpText("after", PINS_HELP)
    .allowExcessArguments()
    .action(() => {
      const [word] = pins.args;
      if (word !== undefined) refuseCommand(pins, word);
      act({ kind: "list" });
    });
  pins
    .command("list")
    .description("list every pinned tool and whether it has changed")
    .action(() => act({ kind: "list" }));
  pins
    .command("show")
    .description("show a pin and what changed since")
    .argument("<target>", "server/tool, or a server for everything that changed there")
    .action((target: string) => act({ kind: "show", target }));
  pins
    .command("approve")
    .description("approve a tool that is new or has changed")
    .argument("<target>", "server/tool, or a server for everything it has")
    .action((target: string) => act({ kind: "approve", target }));
  const forget = pins
    .command("forget")
    .description("delete a pin")
    .argument("[target]", "server/tool, or a server for everything it has")
    .option("--all", "delete every pin of every server")
    .action((target: string | undefined, { all = false }: { all?: boolean }) => {
      if (all === (target !== undefined)) {
        forget.error("error: say what to forget: server/tool, a server, or --all");
      }
      act(target === undefined ? { kind: "forget-all" } : { kind: "forget", target });
    });
}

export interface AuditCommand {
  kind: "audit";
  follow: boolean;
  server?: string;
  /** A pattern. */
  tool?: string;
  since?: Since;
  limit?: number;
}

/** A span of time before now, or a point in time. */
export type Since = { kind: "ago"; ms: number } | { kind: "at"; ms: number };

const AUDIT_HELP = `
With --json every call is one line of JSON, as in the audit file.

Examples:
  plugboard audit --since 1h --tool 'files/write_*'
  plugboard audit --follow --json --server docs`;

const TIME_UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

function describeAudit(program: Parser, choose: Choose): void {
  program
    .command("audit")
    .description("show which calls were made, and their results")
    .option("-f, --follow", "keep printing new calls as they are made")
    .option("--server <name>", "only calls to this server")
    .option("--tool <pattern>", "only tools that match, by name or server/tool; * is any text")
    .option("--since <when>", "only calls after: 90s, 15m, 1h, 2d, 1w, or a date", since)
    .option("--limit <n>", "only the last n, by default 50, or 10 with --follow", count)
    .addHelpText("after", AUDIT_HELP)
    .action(({ follow, ...filter }: Partial<Omit<AuditCommand, "kind">>) =>
      choose({ kind: "audit", follow: follow === true, ...filter }),
    );
}

function since(text: string): Since {
  const when = readSince(text);
  if (when !== undefined) return when;
  throw new InvalidArgumentError("Expected a time such as 15m, 1h, 2d or 2026-11-15.");
}

/** `90s`, `15m`, `1h`, `2d`, `1w`, or a date with its year; undefined for anything else. */
export function readSince(text: string): Since | undefined {
  const [, number, unit = ""] = /^(\d{1,6})\s*([smhdw])$/.exec(text) ?? [];
  const ms = TIME_UNITS[unit];
  if (number !== undefined && ms !== undefined) return { kind: "ago", ms: Number(number) * ms };
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(localDate(text)) : Number.NaN;
  return Number.isNaN(at) ? undefined : { kind: "at", ms: at };
}

/** JavaScript reads a date without a time as UTC; people mean local time. */
function localDate(text: string): string {
  return text.length === 10 ? `${text}T00:00:00` : text;
}

function count(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Expected a whole number.");
}

export type TrustCommand = { kind: "trust" } & (
  | { action: "approve"; yes: boolean }
  | { action: "list" }
  /** Without a file: the one in the working directory. */
  | { action: "revoke"; file?: string }
);

const TRUST_HELP = `
A plugboard.json in the working directory starts nothing until you trust it.
Trust covers the programs it starts, the servers it connects to and what it
passes to them; when any of that changes, you are asked again. A file named with
--config or $PLUGBOARD_CONFIG needs no trust.`;

function describeTrust(program: Parser, choose: Choose): void {
  const list = new Option("--list", "list the trusted files");
  const revoke = new Option("--revoke [file]", "stop trusting a file, by default the one here");
  program
    .command("trust")
    .description("show what the plugboard.json in this directory would start, and approve it")
    .option("--yes", "approve without asking")
    .addOption(list.conflicts("yes"))
    .addOption(revoke.conflicts(["yes", "list"]))
    .addHelpText("after", TRUST_HELP)
    .action((options: Record<string, unknown>) => choose(toCommand(options)));
}

function toCommand({ yes, list, revoke }: Record<string, unknown>): TrustCommand {
  if (list === true) return { kind: "trust", action: "list" };
  if (revoke === undefined) return { kind: "trust", action: "approve", yes: yes === true };
  return { kind: "trust", action: "revoke", file: typeof revoke === "string" ? revoke : undefined };
}

export interface LoginCommand {
  kind: "login";
  server: string;
  /** Try to open a browser. */
  browser: boolean;
}

function describeLogin(program: Parser, choose: Choose): void {
  program
    .command("login")
    .description("sign in to a remote server")
    .argument("<server>", "its name in the configuration")
    .option("--no-browser", "print the address instead of opening a browser")
    .action((server: string, { browser }: { browser: boolean }) =>
      choose({ kind: "login", server, browser }),
    );

  program
    .command("logout")
    .description("sign out of a remote server: revoke and delete its tokens")
    .argument("<server>", "its name in the configuration")
    .action((server: string) => choose({ kind: "logout", server }));
}

const ACP_HELP = `
An editor starts this command and talks to it on stdin and stdout. In Zed's
settings:
  "agent_servers": {
    "Plugboard": { "type": "custom", "command": "plugboard", "args": ["acp"] }
  }
docs/editors.md has the settings of other editors. Problems are logged on
stderr; if the agent cannot start, the editor also gets the reason in the answer
to its first request.

The MCP servers that the editor passes are used together with those in the
configuration. With a "model" in the configuration the agent answers prompts;
without one it only takes the commands /tools, /call, /mcp, /resources, /read.

Example:
  acpx --agent "plugboard acp" exec "/tools"`;

function describeAcp(program: Parser, choose: Choose): void {
  program
    .command("acp")
    .description("run as an ACP agent on stdio (started by an editor)")
    .addHelpText("after", ACP_HELP)
    .action(() => choose({ kind: "acp" }));
}

function describeDemo(program: Parser, choose: Choose): void {
  program
    .command("demo")
    .description("take a short tour with the server that comes with Plugboard")
    .action(() => choose({ kind: "demo" }));
}

export function refuseCommand(program: Parser, word: string): never {
  const meant = closest(
    word,
    program.commands.map((each) => each.name()),
  );
  const hint = meant === undefined ? "" : `\n(Did you mean ${meant}?)`;
  program.error(`error: unknown command '${word}'${hint}`, { exitCode: EXIT.usage });
}
