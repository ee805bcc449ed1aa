// `plugboard record` and `plugboard replay` on the command line.

import type { Command as Parser } from "commander";
import { givenWords, type TracedCall, tracedCall, type TracedOptions } from "../trace/command.ts";
import { takesServer } from "../typed/options.ts";
import { takeServer, type TypedServer } from "../typed-server.ts";

export interface RecordCommand extends TracedCall {
  kind: "record";
  file: string;
  /** Replace a file that is there. */
  force: boolean;
}

export interface ReplayCommand {
  kind: "replay";
  file: string;
}

const RECORD_HELP = `
Writes what plugboard trace would show into a file, which plugboard replay
serves as an MCP server later: in a test, without the real one. Without a tool,
it records until you press Ctrl-C.

Credentials are removed. Read the file before you share it all the same: it has
the arguments and results of every call.

Examples:
  plugboard record demo demo.jsonl convert_time time=14:30 from=Berlin to=Tokyo
  plugboard record files files.jsonl
  plugboard record echo.jsonl echo text=hi -- npx -y some-server`;

const REPLAY_HELP = `
Answers a request with what the server answered to the same request in the
recording. Equal requests are answered in their order; the last answer is given
again after that. A request that is not in the recording gets an error.

Examples:
  plugboard add demo -- plugboard replay demo.jsonl
  plugboard tools -- plugboard replay demo.jsonl`;

export function describeRecording(
  program: Parser,
  choose: (command: RecordCommand | ReplayCommand, typed?: TypedServer) => void,
  behind?: readonly string[],
): void {
  const record = takesServer(
    program.command("record"),
    "<server> <file> [tool] [arguments...]",
    "<file> [tool] [arguments...]",
  )
    .description("record the messages of a server into a file")
    .argument("[server]", "its name in the configuration")
    .argument("[file]", "the file to write")
    .argument("[tool]", "the tool to call; without one, it follows what others do")
    .argument("[arguments...]", "its arguments, as for plugboard call")
    .option("--force", "replace the file if there is one")
    .option("--yes", "make the call without asking, if it needs approval")
    .addHelpText("after", RECORD_HELP)
    .action(
      (
        first: string | undefined,
        second: string | undefined,
        third: string | undefined,
        others: string[],
        options: TracedOptions & { force?: true },
      ) => {
        const given = givenWords(first, second, third, ...others);
        const { words, typed } = takeServer(given, behind, options);
        const at = typed === undefined ? 1 : 0;
        const file = words[at];
        const call = tracedCall(words.toSpliced(at, 1), typed, options);
        if (call === undefined) return record.error("error: missing required argument 'server'");
        if (file === undefined) return record.error("error: missing required argument 'file'");
        choose({ kind: "record", ...call, file, force: options.force === true }, typed);
      },
    );

  program
    .command("replay")
    .description("serve a recording as an MCP server on stdin and stdout")
    .argument("<file>", "what plugboard record has written")
    .addHelpText("after", REPLAY_HELP)
    .action((file: string) => choose({ kind: "replay", file }));
}
