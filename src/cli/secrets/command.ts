// `plugboard secrets` on the command line.

import { SECRET_STORES, type SecretStoreName } from "../../core/types/secret-provider.ts";
import { command } from "../command.ts";
import type { Scope } from "../servers/command.ts";
import { SCOPE, YES } from "../shared-options.ts";

export interface MoveSecret {
  server: string;
  /** `TOKEN`, or with its block: `env.TOKEN`. */
  key: string;
  /** By default what is configured, or fits this machine. */
  to?: SecretStoreName;
  /** What it is called there. */
  name?: string;
  scope?: Scope;
  /** Replace another value of that name. */
  force: boolean;
  yes: boolean;
}

const NOTES = `
A reference such as secret://keyring/plugboard/docs-TOKEN stands for a value
that is not in the configuration. See docs/secrets.md.`;

const CHECK_NOTES = `
Shows no value, and starts no server. The exit code is 3 if one does not work.`;

const MOVE_NOTES = `
Without --to, the value goes to the first provider that the block "secrets" of
the configuration names; else to the keyring of this machine, or where there is
none to secrets.json in Plugboard's home. The rest of the file stays as it is.`;

export const COMMANDS = [
  command({
    name: "secrets",
    about: "check secrets, and move credentials out of the file",
    usage: ["[options] <command>"],
    notes: NOTES,
    examples: ["plugboard secrets check", "plugboard secrets move github GITHUB_TOKEN"],
    commands: [
      command({
        name: "check",
        about: "get the value of every reference, and say which work",
        notes: CHECK_NOTES,
        examples: ["plugboard secrets check"],
        run: async (_, context) => (await import("./check.ts")).runCheck(context),
      }),
      command({
        name: "move",
        about: "store a credential of a server as a secret, and write a reference in its place",
        args: [
          { kind: "one", name: "server", about: "the server", offers: "server" },
          {
            kind: "one",
            name: "key",
            about: "the variable or header, or auth.token, oauth.clientSecret",
          },
        ],
        options: {
          to: {
            kind: "value",
            name: "--to",
            value: "provider",
            about: "where the value goes",
            choices: SECRET_STORES,
          },
          name: {
            kind: "value",
            name: "--name",
            value: "name",
            about: "what to call it there; by default the server and the key",
          },
          scope: SCOPE,
          force: {
            kind: "flag",
            name: "--force",
            about: "replace another value that has this name",
          },
          yes: YES,
        },
        notes: MOVE_NOTES,
        examples: [
          "plugboard secrets move github GITHUB_TOKEN",
          "plugboard secrets move db env.PGPASSWORD --to vault --name prod/db",
        ],
        read: ([server, key], given): MoveSecret => ({ server, key, ...given }),
        run: async (request, context) => (await import("./move.ts")).runMove(request, context),
      }),
    ],
  }),
];
