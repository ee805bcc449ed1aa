// `plugboard tokens` on the command line.

import { type Command as Parser, InvalidArgumentError, Option } from "commander";
import type { ApprovalMode } from "../../core/types/guard-settings.ts";
import { readDuration } from "../read-duration.ts";
import { examples } from "../examples.ts";

export interface TokensCommand {
  kind: "tokens";
  action: { kind: "list" } | { kind: "revoke"; token: string } | AddToken;
}

export interface AddToken {
  kind: "add";
  name: string;
  allow?: string[];
  deny?: string[];
  approval?: ApprovalMode;
  rateLimit?: number;
  /** Milliseconds that it is valid. */
  expires?: number;
}

const HELP = `
A client of the gateway sends a token with every request. Give each client one
of its own, so that you can tell them apart and revoke one alone.

Examples:
  plugboard tokens
  plugboard tokens add laptop
  plugboard tokens revoke laptop`;

const ADD_HELP = `
The token is shown once. It is for every agent, unless you give --agent <id>,
once or several times. --owner allows tools marked ownerOnly. The rules of the
configuration apply as well.

Examples:
  plugboard tokens add laptop
  plugboard tokens add ci --agent coder --deny 'files/write_*' --expires 30d`;

const MOST_PER_MINUTE = 100_000_000;

export function describeTokens(
  program: Parser,
  choose: (command: TokensCommand) => void,
  refuse: (parser: Parser, word: string) => never,
): void {
  const tokens = program
    .command("tokens")
    .description("make and revoke tokens of the gateway")
    .usage("[options] [command]")
    .addHelpText("after", HELP)
    .allowExcessArguments()
    .action(() => {
      const [word] = tokens.args;
      if (word !== undefined) refuse(tokens, word);
      choose({ kind: "tokens", action: { kind: "list" } });
    });
  tokens
    .command("list")
    .description("list the tokens, for whom they are and when they were last used")
    .addHelpText("after", examples("plugboard tokens list"))
    .action(() => choose({ kind: "tokens", action: { kind: "list" } }));
  const approval = new Option("--approval <mode>", "ask before calls");
  tokens
    .command("add")
    .description("make a token and show it")
    .argument("<name>", "who will use it, such as ci or ann@laptop")
    .option("--allow <pattern>", "only tools that match; can be given several times", collect)
    .option("--deny <pattern>", "no tools that match; can be given several times", collect)
    .addOption(approval.choices(["never", "ask", "destructive"]))
    .option("--rate-limit <n>", "requests per minute", perMinute)
    .option("--expires <time>", "valid for: 12h, 30d, 8w; by default until it is revoked", lifetime)
    .addHelpText("after", ADD_HELP)
    .action((name: string, options: Omit<AddToken, "kind" | "name">) =>
      choose({ kind: "tokens", action: { kind: "add", name, ...options } }),
    );
  tokens
    .command("revoke")
    .description("end a token; its client is refused from then on")
    .argument("<token>", "its name or id")
    .addHelpText("after", examples("plugboard tokens revoke laptop"))
    .action((token: string) => choose({ kind: "tokens", action: { kind: "revoke", token } }));
}

function collect(pattern: string, earlier: string[] = []): string[] {
  if (pattern === "") throw new InvalidArgumentError("Expected a pattern such as 'files/*'.");
  return [...earlier, pattern];
}

function perMinute(text: string): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= MOST_PER_MINUTE) return number;
  throw new InvalidArgumentError("Expected a number of requests per minute.");
}

function lifetime(text: string): number {
  const ms = readDuration(text);
  if (ms !== undefined && ms > 0) return ms;
  throw new InvalidArgumentError("Expected a time such as 12h, 30d or 8w.");
}
