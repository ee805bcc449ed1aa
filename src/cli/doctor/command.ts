// `plugboard doctor` on the command line.

import { command } from "../command.ts";

export interface DoctorRequest {
  /** The only server to look at. */
  server?: string;
  /** Make the repairs that are safe. */
  fix: boolean;
}

const NOTES = `
Looks at this machine, Plugboard's own files, the configuration, every server
from its command to its tools, the secrets, the sign-ins, the rules, the model,
and the applications that could use all of that. Says for each problem what to
do about it. It changes nothing of yours, and stops the servers that it has
started. The model's provider is asked whether it takes the key and has the
model, which costs nothing.

--fix makes the repairs that are safe: the rights of Plugboard's own files, and
what Plugboard processes have left that no longer run. Your configuration stays
as it is. --verbose also shows what is all right, line by line.
The exit code is 1 if something is broken; warnings and notes do not count.`;

export const COMMANDS = [
  command({
    name: "doctor",
    about: "find out what is wrong, and what to do about it",
    args: [{ kind: "maybe", name: "server", about: "check only this server", offers: "server" }],
    options: { fix: { kind: "flag", name: "--fix", about: "make the repairs that are safe" } },
    notes: NOTES,
    examples: ["plugboard doctor", "plugboard doctor files", "plugboard doctor --fix"],
    traits: { sparesHome: true },
    read: ([server], { fix }): DoctorRequest => ({ server, fix }),
    run: async (request, context) => (await import("./doctor.ts")).runDoctor(request, context),
  }),
];
