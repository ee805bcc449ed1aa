// `plugboard reload` on the command line.

import { command } from "../command.ts";
import { YES } from "../shared-options.ts";

export interface ReloadRequest {
  yes: boolean;
}

const NOTES = `
plugboard up, serve and acp apply edits of their file within a second. An edit
that changes what is started waits for you, unless the file is in Plugboard's
home. This command checks the file, shows what it would start, and asks.`;

export const COMMANDS = [
  command({
    name: "reload",
    about: "approve an edit that waits, and apply it",
    options: { yes: YES },
    notes: NOTES,
    examples: ["plugboard reload"],
    read: (_, { yes }): ReloadRequest => ({ yes }),
    run: async (request, context) => (await import("./reload.ts")).runReload(request, context),
  }),
];
