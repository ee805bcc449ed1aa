// How a command says in its help that it takes a server, and the options that belong to one.

import { type Command as Parser, Option } from "commander";

const HELP = `
A command after --, or a URL, is used in place of the configured servers, for
this time only. -e passes it a variable: KEY=value, or KEY for the one you have.`;

const collect = (value: string, earlier: string[] | undefined): string[] => [
  ...(earlier ?? []),
  value,
];

/** As in the configuration. */
export const ALLOW_INSECURE = new Option(
  "--allow-insecure",
  "use a URL without TLS that is not on this machine",
);
export const ALLOW_PRIVATE = new Option(
  "--allow-private",
  "use a URL whose address is in a private network",
);

/** `usage` is how the command is used without one, and `beside` what it takes beside one. */
export function takesServer(command: Parser, usage: string, beside = usage): Parser {
  const name = `plugboard ${command.name()} [options]`;
  const more = beside === "" ? "" : ` ${beside}`;
  return command
    .usage(`[options] ${usage}\n       ${name}${more} -- <command...>\n       ${name} <url>${more}`)
    .option("-e, --env <KEY[=value]>", "a variable for a command after --", collect)
    .option("-H, --header <header>", "a header for a URL", collect)
    .addOption(ALLOW_INSECURE)
    .addOption(ALLOW_PRIVATE)
    .addHelpText("after", HELP);
}
