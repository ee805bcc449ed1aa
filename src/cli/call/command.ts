// `plugboard call` on the command line.

import { command, Mistake } from "../command.ts";
import { offeredCommand } from "../offered-command.ts";
import { SAVE_BINARY, wholeNumber, YES } from "../shared-options.ts";
import { SERVER_OPTIONS } from "../typed-server.ts";
// At once, unlike all others: to load it by itself would take longer than it does, and it loads most of what it needs on demand.
import { runCall } from "./call.ts";

export interface CallRequest {
  tool: string;
  args: string[];
  /** Milliseconds. */
  timeout?: number;
  /** Where binary content is saved. */
  output?: string;
  /** The call may be made without asking. */
  yes: boolean;
}

const NOTES = `
Ways to give arguments:
  text=hi top=3                a value, converted to the type in the schema
  --text hi --top 3, text: hi  the same, except for the options listed above
  hi 3                         values, in the order that the tool's help has
  tag=a tag=b                  a list
  place.city=Oslo              one field of an object
  filter:='{"a": [1, 2]}'      JSON, passed on unchanged
  text=@notes.txt              a value from a file; text=@- from stdin
  '{"text": "hi", "top": 3}'   one JSON object, with or without --args before it
  @arguments.json              one JSON object from a file; - from stdin
  'echo(text: "hi", top: 3)'   with the tool, as a program writes it`;

const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** Whole milliseconds. */
export const readTimeout = wholeNumber(1, LONGEST_TIMEOUT_MS, "a whole number of milliseconds");

export const COMMANDS = [
  command({
    name: "call",
    about: "call a tool",
    args: [
      {
        kind: "one",
        name: "tool",
        about: "server/tool, server tool, the tool's name if it is unique, or the public name",
        offers: "tool",
      },
      {
        kind: "any",
        name: "arguments",
        about: "key=value, --key value, key:=json, values, a JSON object, @file, or - for stdin",
        offers: "argument",
      },
    ],
    takesOptions: true,
    options: {
      ...SERVER_OPTIONS,
      timeout: {
        kind: "value",
        name: "--timeout",
        value: "ms",
        about: "milliseconds the call may take without progress",
        read: readTimeout,
      },
      output: SAVE_BINARY,
      yes: YES,
    },
    server: {},
    notes: NOTES,
    examples: [
      "plugboard call files/read_text_file --help",
      "plugboard call files/read_text_file path=README.md head:=5",
      "plugboard call files read_text_file --path README.md --head 5",
      "plugboard call read_graph -- npx -y @modelcontextprotocol/server-memory",
    ],
    hint: "arguments of a tool are written key=value; to see how: plugboard call --help",
    missing: (typed) => {
      const place = typed.url === undefined ? "before --" : "after the URL";
      return `name a tool ${place}; to see which it has:\n  ${offeredCommand("tools", { typed })}`;
    },
    help: {
      about: "show help, or with a tool, what it takes",
      run: async (words, context) =>
        (await import("../tools/tools.ts")).runToolHelp(words, context),
    },
    read: ([tool, ...args], { timeout, output, yes }, { behind = [] }) =>
      argumentBehind(behind) ?? ({ tool, args, timeout, output, yes } satisfies CallRequest),
    traits: ({ args }) => ({
      readsStdin: readsStdin(args),
      whenLost: "the call has been made, and may have taken effect; only its result is lost",
    }),
    run: runCall,
  }),
];

/** After `--` comes the command of a server: an argument of the tool would be started as one. */
function argumentBehind(words: readonly string[]): Mistake | undefined {
  const [first] = words;
  const isArgument = (word: string): boolean => /^[\w.-]+:?=/.test(word);
  if (first === undefined || !(first.startsWith("-") || words.every(isArgument))) return undefined;
  return new Mistake(
    `'${first}' looks like an argument of the tool, and after -- comes the command of a server; leave out the --`,
  );
}

/** Whether one of the arguments of a tool or a prompt is to be read from there. */
export function readsStdin(args: readonly string[]): boolean {
  return args.some((each) => each === "-" || each === "@-" || each.endsWith("=@-"));
}
