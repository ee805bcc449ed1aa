// `plugboard record` and `plugboard replay` on the command line.

import { command } from "../command.ts";
import {
  TRACED_CALL,
  TRACED_SERVER,
  TRACED_YES,
  type TracedCall,
  tracedCall,
  tracedTraits,
} from "../trace/command.ts";
import { SERVER_OPTIONS } from "../typed-server.ts";

export interface RecordRequest extends TracedCall {
  file: string;
  /** Replace a file that is there. */
  force: boolean;
}

export interface ReplayRequest {
  file: string;
}

const RECORD_NOTES = `
Writes what plugboard trace would show into a file, which plugboard replay
serves as an MCP server later: in a test, without the real one. Without a tool,
it records until you press Ctrl-C.

Credentials are removed. Still, read the file before you share it: it has
the arguments and results of every call.`;

const REPLAY_NOTES = `
Answers a request with what the server answered to the same request in the
recording. Equal requests are answered in their order; the last answer is given
again after that. A request that is not in the recording gets an error.`;

export const COMMANDS = [
  command({
    name: "record",
    about: "record the messages of a server into a file",
    args: [
      TRACED_SERVER,
      { kind: "one", name: "file", about: "the file to write", offers: "file" },
      ...TRACED_CALL,
    ],
    options: {
      ...SERVER_OPTIONS,
      force: { kind: "flag", name: "--force", about: "replace the file if there is one" },
      yes: TRACED_YES,
    },
    server: {},
    notes: RECORD_NOTES,
    examples: [
      "plugboard record files files.jsonl read_text_file path=README.md",
      "plugboard record files files.jsonl",
    ],
    read: ([server, file, ...call], { force, yes }): RecordRequest => ({
      ...tracedCall(server, call, yes),
      file,
      force,
    }),
    traits: tracedTraits,
    run: async (request, context) => (await import("./record.ts")).runRecord(request, context),
  }),
  command({
    name: "replay",
    about: "serve a recording as an MCP server on stdin and stdout",
    args: [
      { kind: "one", name: "file", about: "what plugboard record has written", offers: "file" },
    ],
    notes: REPLAY_NOTES,
    examples: [
      "plugboard tools -- plugboard replay files.jsonl",
      "plugboard add recorded -- plugboard replay files.jsonl",
    ],
    traits: { speaksOnStdio: true, logs: ["state"] },
    read: ([file]): ReplayRequest => ({ file }),
    run: async (request, context) => (await import("./replay.ts")).runReplay(request, context),
  }),
];
