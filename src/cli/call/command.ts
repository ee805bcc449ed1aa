// `plugboard call` on the command line.

import { type Command as Parser, InvalidArgumentError } from "commander";
import { offeredCommand } from "../offered-command.ts";
import { takesServer } from "../typed/options.ts";
import { takeServer, type TypedOptions, type TypedServer } from "../typed-server.ts";
import { readTimeout } from "./read-call.ts";

export interface CallCommand {
  kind: "call";
  tool: string;
  args: string[];
  /** Milliseconds. */
  timeout?: number;
  /** Where binary content is saved. */
  output?: string;
  /** The call may be made without asking. */
  yes: boolean;
}

/** `plugboard call <tool> --help` */
export interface ToolHelpCommand {
  kind: "tool-help";
  tool: string;
}

const HELP = `
Ways to give arguments:
  text=hi top=3                a value, converted to the type in the schema
  tag=a tag=b                  a list
  place.city=Oslo              one field of an object
  filter:='{"a": [1, 2]}'      JSON, passed on unchanged
  text=@notes.txt              a value from a file; text=@- from stdin
  '{"text": "hi", "top": 3}'   one JSON object
  @arguments.json              one JSON object from a file; - from stdin
  'echo(text: "hi", top: 3)'   with the tool, as a program writes it

Examples:
  plugboard call demo/convert_time --help
  plugboard call demo/convert_time time=14:30 from=Berlin to=Tokyo
  plugboard call echo text=hi -- npx -y some-server`;

interface Options extends Pick<CallCommand, "timeout" | "output">, TypedOptions {
  yes?: true;
  help?: true;
}

export function describeCall(
  program: Parser,
  choose: (command: CallCommand | ToolHelpCommand, typed?: TypedServer) => void,
  behind?: readonly string[],
): void {
  const call = takesServer(program.command("call"), "<tool> [arguments...]")
    .description("call a tool")
    .argument("[tool]", "server/tool, the tool's name if it is unique, or the public name")
    .argument("[arguments...]", "key=value, key:=json, a JSON object, @file, or - for stdin")
    .option("--timeout <ms>", "milliseconds the call may take without progress", milliseconds)
    .option("--output <directory>", "save images, audio and other binary content there")
    .option("--yes", "do not ask")
    // In place of commander's own, which knows nothing of tools.
    .helpOption(false)
    .option("-h, --help", "show help, or with a tool, what it takes")
    .addHelpText("after", HELP)
    .action((first: string | undefined, others: string[], options: Options) => {
      const given = first === undefined ? [] : [first, ...others];
      const { words, typed } = takeServer(given, behind, options);
      const [tool, ...args] = words;
      if (options.help && tool === undefined) return call.help();
      if (tool === undefined) {
        if (typed !== undefined) {
          const place = typed.url === undefined ? "before --" : "after the URL";
          const next = offeredCommand("tools", { typed });
          call.showHelpAfterError(`hint: name a tool ${place}; to see which it has:\n  ${next}`);
        }
        return call.error("error: missing required argument 'tool'");
      }
      if (options.help) return choose({ kind: "tool-help", tool }, typed);
      const { timeout, output, yes } = options;
      choose({ kind: "call", tool, args, timeout, output, yes: yes === true }, typed);
    });
}

function milliseconds(text: string): number {
  const value = readTimeout(text);
  if (value !== undefined) return value;
  throw new InvalidArgumentError("Expected a whole number of milliseconds.");
}
