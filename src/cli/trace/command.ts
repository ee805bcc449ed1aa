// `plugboard trace` on the command line.

import type { Command as Parser } from "commander";
import { takesServer } from "../typed/options.ts";
import { takeServer, type TypedOptions, type TypedServer } from "../typed-server.ts";

/** Whose messages, and the call that makes them. Without a tool, those that come until you stop it. */
export interface TracedCall {
  /** Absent if the server is typed. */
  server?: string;
  tool?: string;
  args: string[];
  /** The call may be made without asking. */
  yes: boolean;
}

export interface TraceCommand extends TracedCall {
  kind: "trace";
  /** Print each message whole. */
  full: boolean;
}

const HELP = `
With a tool, starts the server, calls the tool, and shows everything from the
handshake to the result. Without one, shows the messages of the gateway that
runs, or of a server that it starts, until you press Ctrl-C.

Credentials are removed. Large messages are cut.

Examples:
  plugboard trace demo
  plugboard trace demo current_time zone=Tokyo
  plugboard trace demo current_time zone=Tokyo --full
  plugboard trace echo text=hi -- npx -y some-server
  plugboard trace https://example.com/mcp`;

export interface TracedOptions extends TypedOptions {
  yes?: true;
}

export function describeTrace(
  program: Parser,
  choose: (command: TraceCommand, typed?: TypedServer) => void,
  behind?: readonly string[],
): void {
  const trace = takesServer(
    program.command("trace"),
    "<server> [tool] [arguments...]",
    "[tool] [arguments...]",
  )
    .description("show the messages between you and a server, live")
    .argument("[server]", "its name in the configuration")
    .argument("[tool]", "the tool to call; without one, it follows what others do")
    .argument("[arguments...]", "its arguments, as for plugboard call")
    .option("--full", "show each message whole, on several lines")
    .option("--yes", "make the call without asking, if it needs approval")
    .addHelpText("after", HELP)
    .action(
      (
        first: string | undefined,
        second: string | undefined,
        others: string[],
        options: TracedOptions & { full?: true },
      ) => {
        const given = givenWords(first, second, ...others);
        const { words, typed } = takeServer(given, behind, options);
        const call = tracedCall(words, typed, options);
        if (call === undefined) return trace.error("error: missing required argument 'server'");
        choose({ kind: "trace", ...call, full: options.full === true }, typed);
      },
    );
}

/** In the order in which they were typed: what the first word is, depends on whether the server is typed. */
export function givenWords(...words: readonly (string | undefined)[]): string[] {
  return words.filter((word) => word !== undefined);
}

/** `words` begin with the server, unless it is typed. Undefined if they do not name one. */
export function tracedCall(
  words: readonly string[],
  typed: TypedServer | undefined,
  { yes }: TracedOptions,
): TracedCall | undefined {
  const [first, ...rest] = words;
  const mayRun = { yes: yes === true };
  if (typed !== undefined) return { ...(first && { tool: first }), args: rest, ...mayRun };
  if (first === undefined) return undefined;
  // `files/read_file` names both.
  const slash = first.indexOf("/");
  if (slash > 0) {
    return { server: first.slice(0, slash), tool: first.slice(slash + 1), args: rest, ...mayRun };
  }
  const [tool, ...args] = rest;
  return { server: first, ...(tool && { tool }), args, ...mayRun };
}
