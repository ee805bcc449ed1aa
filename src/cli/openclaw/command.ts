// `plugboard openclaw` on the command line.

import { type Command as Parser, InvalidArgumentError } from "commander";
import { examples } from "../examples.ts";

export interface OpenclawCommand {
  kind: "openclaw";
  action: "setup" | "undo";
  /** In place of OpenClaw's own file. */
  file?: string;
  yes: boolean;
  /** How many slots; undefined for as many as there are, or 8. */
  slots?: number;
  basePort?: number;
  /** The one entry that all sessions share, in place of the slots. */
  shared?: SharedOptions;
}

export interface SharedOptions {
  /** Of a gateway; `true` for the one that runs. Without it, OpenClaw starts `plugboard serve`. */
  url?: string | true;
  /** The variable of OpenClaw's environment that has the gateway's token. */
  tokenEnv?: string;
  /** The agents of OpenClaw that get it; all others are kept from it. */
  agents: string[];
}

const HELP = `
Checks OpenClaw's version, its gateway and the ports, shows the change, and
asks. See docs/openclaw.md.

Without --shared it writes slots: servers that are off, of which each session
of plugboard acp --openclaw switches on one for itself.

Examples:
  plugboard openclaw setup
  plugboard openclaw setup --shared --url --for research
  plugboard openclaw setup --undo`;

interface Given {
  file?: string;
  undo?: true;
  yes?: true;
  slots?: number;
  basePort?: number;
  shared?: true;
  url?: string | true;
  tokenEnv?: string;
  for?: string[];
}

export function describeOpenclaw(
  program: Parser,
  choose: (command: OpenclawCommand) => void,
  refuse: (parser: Parser, word: string) => never,
): void {
  const openclaw = program
    .command("openclaw")
    .description("give OpenClaw your servers")
    .usage("[options] [command]")
    .addHelpText("after", examples("plugboard openclaw setup"))
    .allowExcessArguments()
    .action(() => {
      const [word] = openclaw.args;
      if (word !== undefined) refuse(openclaw, word);
      openclaw.help({ error: true });
    });
  const setup = openclaw
    .command("setup")
    .description("write what is needed into OpenClaw's configuration")
    .option("--slots <n>", "sessions that can be open at once, by default 8", number(1, 64))
    .option("--base-port <port>", "slot 1 is at the port after this one", number(1, 65_000))
    .option("--shared", "one entry that all sessions share, in place of slots")
    .option("--url [url]", "with --shared: a gateway, by default the one that runs")
    .option(
      "--token-env <name>",
      "with --url: the variable that has the token for OpenClaw",
      variable,
    )
    .option(
      "--for <agent>",
      "with --shared: only for this agent of OpenClaw; may be repeated",
      collect,
    )
    .option("--file <file>", "change this file in place of OpenClaw's own")
    .option("--undo", "take it out again; with --shared only that entry")
    .option("--yes", "do not ask")
    .addHelpText("after", HELP)
    .action((given: Given) => {
      const wrong = misplaced(given);
      if (wrong !== undefined) setup.error(`error: ${wrong}`);
      const { file, undo, yes, slots, basePort, shared, url, tokenEnv, for: agents = [] } = given;
      choose({
        kind: "openclaw",
        action: undo ? "undo" : "setup",
        yes: yes === true,
        ...(file !== undefined && { file }),
        ...(slots !== undefined && { slots }),
        ...(basePort !== undefined && { basePort }),
        ...(shared && {
          shared: {
            ...(url !== undefined && { url }),
            ...(tokenEnv !== undefined && { tokenEnv }),
            agents,
          },
        }),
      });
    });
}

/** An option that would have no effect looks as if it had one. */
function misplaced(given: Given): string | undefined {
  const { undo, slots, basePort, shared, url, tokenEnv, for: agents } = given;
  const ofSlots = slots === undefined ? basePort && "--base-port" : "--slots";
  const ofShared = [url && "--url", tokenEnv && "--token-env", agents && "--for"].find(Boolean);
  if (shared && ofSlots) return `${ofSlots} is about slots, which --shared does without`;
  if (!shared && ofShared) return `${ofShared} needs --shared`;
  if (tokenEnv !== undefined && url === undefined) return "--token-env needs --url";
  const other = ofSlots || ofShared;
  return undo && other ? `${other} cannot be given with --undo` : undefined;
}

function number(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,5}$/.test(text) ? Number(text) : 0;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Expected a number from ${least} to ${most}.`);
  };
}

function variable(text: string): string {
  // OpenClaw replaces no others.
  if (/^[A-Z_][A-Z0-9_]*$/.test(text)) return text;
  throw new InvalidArgumentError(
    "Expected the name of a variable in capitals, such as PLUGBOARD_TOKEN.",
  );
}

function collect(agent: string, earlier: string[] = []): string[] {
  return [...earlier, agent];
}
