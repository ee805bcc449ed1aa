// Reads the plain form of `plugboard call` without the parser of the whole command line, which takes longer to load
// than the rest of a call to a running gateway. What it cannot read is left to the parser.

import { type GivenOptions, type GlobalOptions, globalOptions } from "../context.ts";
import { LOG_LEVELS, type LogThreshold } from "../terminal/log.ts";
import { splitWords, takeServer } from "../typed-server.ts";
import type { CallCommand } from "./command.ts";

export interface PlainCall {
  kind: "run";
  command: CallCommand;
  options: GlobalOptions;
}

/** For each option without a value: the parser's name of it, and the value that the parser sets. */
const FLAGS: Readonly<Record<string, [keyof GivenOptions | "yes", boolean]>> = {
  "--json": ["json", true],
  "--verbose": ["verbose", true],
  "--no-color": ["color", false],
  "--owner": ["owner", true],
  "--exit-with-stdin": ["exitWithStdin", true],
  "--standalone": ["standalone", true],
  "--yes": ["yes", true],
};

/** Options of the call itself: before the word `call` they are a mistake. */
const OWN = new Set(["--yes", "--timeout", "--output", "-e", "--env", "-H", "--header"]);

/** Gives exactly what the parser would give, or undefined: for help, for mistakes, and for unusual spellings. */
export function readPlainCall(words: readonly string[]): PlainCall | undefined {
  const { argv, behind } = splitWords(words);
  const given: GivenOptions & { yes?: boolean } = {};
  const own: Pick<CallCommand, "timeout" | "output"> = {};
  const server = { env: [] as string[], header: [] as string[] };
  const operands: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? "";
    if (!word.startsWith("-") || word === "-") {
      operands.push(word);
      continue;
    }
    if (OWN.has(word) && operands.length === 0) return undefined;
    const flag = FLAGS[word];
    if (flag !== undefined) {
      Object.assign(given, { [flag[0]]: flag[1] });
      continue;
    }
    at += 1;
    const value = argv[at];
    if (value === undefined || value.startsWith("-")) return undefined;
    if (word === "--config") given.config = value;
    else if (word === "--agent") given.agent = [...(given.agent ?? []), value];
    else if (word === "--output") own.output = value;
    else if (word === "-e" || word === "--env") server.env.push(value);
    else if (word === "-H" || word === "--header") server.header.push(value);
    else if (word === "--timeout" && readTimeout(value) !== undefined) {
      own.timeout = readTimeout(value);
    } else if (word === "--log-level" && LOG_LEVELS.includes(value as LogThreshold)) {
      given.logLevel = value as LogThreshold;
    } else {
      return undefined;
    }
  }
  const [command, ...others] = operands;
  const taken = takeServer(others, behind, server);
  const [tool, ...args] = taken.words;
  if (command !== "call" || tool === undefined) return undefined;
  const { timeout, output } = own;
  return {
    kind: "run",
    command: { kind: "call", tool, args, timeout, output, yes: given.yes === true },
    options: globalOptions(given, taken.typed),
  };
}

const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** Whole milliseconds. */
export function readTimeout(text: string): number | undefined {
  const value = Number(text);
  return /^\d+$/.test(text) && value >= 1 && value <= LONGEST_TIMEOUT_MS ? value : undefined;
}
