// `plugboard call` on the command line.

import { type Command as Parser, InvalidArgumentError } from "commander";

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

const HELP = `
Ways to give arguments:
  '{"text": "hi", "top": 3}'     one JSON object
  text=hi top=3                  converted to the types in the tool's schema
  tag=a tag=b                    repeat a key to make a list
  place.city=Oslo                set one field of an object
  filter:='{"a": [1, 2]}'        JSON, passed on unchanged
  text=@notes.txt                read a value from a file; text=@- from stdin
  @arguments.json                read a JSON object from a file; - from stdin

Examples:
  plugboard call demo/convert_time time=14:30 from=Berlin to=Tokyo
  plugboard call mcp__demo__current_time zone=Tokyo --json`;

export function describeCall(program: Parser, choose: (command: CallCommand) => void): void {
  program
    .command("call")
    .description("call a tool")
    .argument("<tool>", "public name, server/tool, or the tool's name if it is unique")
    .argument("[arguments...]", "key=value, key:=json, a JSON object, @file, or - for stdin")
    .option("--timeout <ms>", "milliseconds the call may take without progress", milliseconds)
    .option("--output <directory>", "save images, audio and other binary content there")
    .addHelpText("after", HELP)
    .action((tool: string, args: string[], options: Pick<CallCommand, "timeout" | "output">) =>
      choose({ kind: "call", tool, args, timeout: options.timeout, output: options.output }),
    );
}

function milliseconds(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= LONGEST_TIMEOUT_MS) return value;
  throw new InvalidArgumentError("Expected a whole number of milliseconds.");
}
