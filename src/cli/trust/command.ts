// `plugboard trust` on the command line.

import { command } from "../command.ts";
import { YES } from "../shared-options.ts";

export type TrustRequest =
  | { action: "approve"; yes: boolean }
  | { action: "list" }
  /** Without a file: the one in the working directory. */
  | { action: "revoke"; file?: string };

const NOTES = `
A plugboard.json in the working directory starts nothing until you trust it.
When a server in it changes, you are asked again, and the others go on. A file
that you name with --config needs no trust.`;

export const COMMANDS = [
  command({
    name: "trust",
    about: "approve what this directory's plugboard.json starts",
    options: {
      yes: YES,
      list: { kind: "flag", name: "--list", about: "list the trusted files", without: ["yes"] },
      revoke: {
        kind: "optional",
        name: "--revoke",
        value: "file",
        about: "stop trusting a file, by default the one here",
        offers: "file",
        without: ["yes", "list"],
      },
    },
    notes: NOTES,
    examples: ["plugboard trust", "plugboard trust --list"],
    read: (_, { yes, list, revoke }): TrustRequest => {
      if (list) return { action: "list" };
      if (revoke === undefined) return { action: "approve", yes };
      return { action: "revoke", file: revoke === true ? undefined : revoke };
    },
    run: async (request, context) => (await import("./trust.ts")).runTrust(request, context),
  }),
];
