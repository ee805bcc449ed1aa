// `plugboard openclaw` on the command line.

import { command, Mistake } from "../command.ts";
import type { GivenOptions, Options, ReadValue } from "../option.ts";
import { wholeNumber, YES } from "../shared-options.ts";

export interface OpenclawRequest {
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
  /** A gateway's URL; `true` stands for the one that runs. Without it, OpenClaw starts `plugboard serve`. */
  url?: string | true;
  /** The variable of OpenClaw's environment that has the gateway's token. */
  tokenEnv?: string;
  /** The agents of OpenClaw that get it; all others are kept from it. */
  agents: string[];
}

const NOTES = `
Checks OpenClaw's version, its gateway and the ports, shows the change, and
asks. See docs/openclaw.md.

Without --shared it writes slots: servers that are off, of which each session
of plugboard acp --openclaw switches on one for itself.`;

const SETUP_OPTIONS = {
  slots: {
    kind: "value",
    name: "--slots",
    value: "n",
    about: "sessions that can be open at once, by default 8",
    read: wholeNumber(1, 64, "a number from 1 to 64"),
  },
  basePort: {
    kind: "value",
    name: "--base-port",
    value: "port",
    about: "use the ports after this one, the first of them for slot 1",
    read: wholeNumber(1, 65_000, "a number from 1 to 65000"),
  },
  shared: {
    kind: "flag",
    name: "--shared",
    about: "one entry that all sessions share, in place of slots",
  },
  url: {
    kind: "optional",
    name: "--url",
    value: "url",
    about: "with --shared: a gateway, by default the one that runs",
  },
  tokenEnv: {
    kind: "value",
    name: "--token-env",
    value: "name",
    about: "with --url: the variable that has the token for OpenClaw",
    read: readVariable,
  },
  for: {
    kind: "list",
    name: "--for",
    value: "agent",
    about: "with --shared: only for this agent of OpenClaw; may be repeated",
  },
  file: {
    kind: "value",
    name: "--file",
    value: "file",
    about: "change this file in place of OpenClaw's own",
    offers: "file",
  },
  undo: {
    kind: "flag",
    name: "--undo",
    about: "take it out again; with --shared only that entry",
  },
  yes: YES,
} as const satisfies Options;

type Given = GivenOptions<typeof SETUP_OPTIONS>;

export const COMMANDS = [
  command({
    name: "openclaw",
    about: "give OpenClaw your servers",
    usage: ["[options] [command]"],
    examples: ["plugboard openclaw setup"],
    commands: [
      command({
        name: "setup",
        about: "write what is needed into OpenClaw's configuration",
        options: SETUP_OPTIONS,
        notes: NOTES,
        examples: [
          "plugboard openclaw setup",
          "plugboard openclaw setup --shared --url --for research",
          "plugboard openclaw setup --undo",
        ],
        read: (_, given): OpenclawRequest | Mistake => {
          const wrong = misplaced(given);
          if (wrong !== undefined) return new Mistake(wrong);
          const { file, undo, yes, slots, basePort, shared, url, tokenEnv, for: agents } = given;
          return {
            action: undo ? "undo" : "setup",
            yes,
            file,
            slots,
            basePort,
            ...(shared && { shared: { url, tokenEnv, agents } }),
          };
        },
        run: async (request, context) => (await import("./setup.ts")).runOpenclaw(request, context),
      }),
    ],
  }),
];

/** An option that would have no effect looks as if it had one. */
function misplaced(given: Given): string | undefined {
  const { undo, slots, basePort, shared, url, tokenEnv, for: agents } = given;
  const ofSlots = slots === undefined ? basePort && "--base-port" : "--slots";
  const ofShared = [url && "--url", tokenEnv && "--token-env", agents.length > 0 && "--for"].find(
    Boolean,
  );
  if (shared && ofSlots) return `${ofSlots} is about slots, which --shared does without`;
  if (!shared && ofShared) return `${ofShared} needs --shared`;
  if (tokenEnv !== undefined && url === undefined) return "--token-env needs --url";
  const other = ofSlots || ofShared;
  return undo && other ? `${other} cannot be given with --undo` : undefined;
}

function readVariable(text: string): ReadValue<string> {
  // OpenClaw replaces no others.
  return /^[A-Z_][A-Z0-9_]*$/.test(text)
    ? { value: text }
    : { expected: "the name of a variable in capitals, such as PLUGBOARD_TOKEN" };
}
