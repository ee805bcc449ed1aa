// `plugboard trace` on the command line.

import { readsStdin } from "../call/command.ts";
import { type Argument, command, type Traits } from "../command.ts";
import type { Option } from "../option.ts";
import { SERVER_OPTIONS } from "../typed-server.ts";

/** Whose messages, and the call that makes them. Without a tool, those that come until you stop it. */
export interface TracedCall {
  /** Absent if the server is typed. */
  server?: string;
  tool?: string;
  args: string[];
  /** The call may be made without asking. */
  yes: boolean;
}

export interface TraceRequest extends TracedCall {
  /** Print each message whole. */
  full: boolean;
}

const NOTES = `
With a tool, starts the server, calls the tool, and shows everything from the
handshake to the result. Without one, shows the messages of the gateway that
runs, or of a server that it starts, until you press Ctrl-C.

Credentials are removed. Large messages are cut.`;

/** The options of a command that traces a call. */
export const TRACED_YES = {
  kind: "flag",
  name: "--yes",
  about: "make the call without asking, if it needs approval",
} as const satisfies Option;

export const TRACED_SERVER = {
  kind: "one",
  name: "server",
  about: "its name in the configuration",
  isServer: true,
  offers: "server",
} as const satisfies Argument;

export const TRACED_CALL = [
  {
    kind: "maybe",
    name: "tool",
    about: "the tool to call; without one, it follows what others do",
    offers: "tool",
  },
  {
    kind: "any",
    name: "arguments",
    about: "its arguments, as for plugboard call",
    offers: "argument",
  },
] as const satisfies Argument[];

export const COMMANDS = [
  command({
    name: "trace",
    about: "show the messages between you and a server, live",
    args: [TRACED_SERVER, ...TRACED_CALL],
    options: {
      ...SERVER_OPTIONS,
      full: { kind: "flag", name: "--full", about: "show each message whole, on several lines" },
      yes: TRACED_YES,
    },
    server: {},
    notes: NOTES,
    examples: [
      "plugboard trace files",
      "plugboard trace files read_text_file path=README.md",
      "plugboard trace files read_text_file path=README.md --full",
      "plugboard trace read_graph -- npx -y @modelcontextprotocol/server-memory",
      "plugboard trace https://example.com/mcp",
    ],
    read: ([server, ...call], { full, yes }): TraceRequest => ({
      ...tracedCall(server, call, yes),
      full,
    }),
    traits: (request) => ({ ...tracedTraits(request), printsLines: true }),
    run: async (request, context) => (await import("./trace.ts")).runTrace(request, context),
  }),
];

export function tracedTraits({ tool, args }: TracedCall): Traits {
  return { readsStdin: readsStdin(args), isEndless: tool === undefined };
}

/** `server` is absent if it is typed. */
export function tracedCall(
  server: string | undefined,
  words: readonly (string | undefined)[],
  yes: boolean,
): TracedCall {
  const [tool, ...args] = words.filter((word) => word !== undefined);
  // `files/read_file` names both.
  const slash = server?.indexOf("/") ?? -1;
  if (server !== undefined && slash > 0) {
    const both = { server: server.slice(0, slash), tool: server.slice(slash + 1) };
    return { ...both, args: tool === undefined ? [] : [tool, ...args], yes };
  }
  return { ...(server !== undefined && { server }), ...(tool && { tool }), args, yes };
}
