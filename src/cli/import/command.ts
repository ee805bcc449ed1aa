// `plugboard import` on the command line.

import { SECRET_STORES, type SecretStoreName } from "../../core/types/secret-provider.ts";
import { command } from "../command.ts";
import type { Scope } from "../servers/command.ts";
import { SCOPE, YES } from "../shared-options.ts";

export interface ImportRequest {
  /** Only these servers; all where it is empty. */
  names: string[];
  /** Applications and files; all applications where it is empty. */
  from: string[];
  write: boolean;
  scope?: Scope;
  /** Credentials become references to variables. */
  references: boolean;
  /** Credentials are put away, and become references to where they are. */
  secrets?: { to?: SecretStoreName };
  /** Replace servers of the same name. */
  force: boolean;
  yes: boolean;
  /** Show the servers with their state after they were written. */
  check: boolean;
}

const NOTES = `
Looks at Claude Code, Claude Desktop, Cursor, Windsurf, Cline, Roo Code, VS
Code, Zed, Codex, Gemini CLI, OpenCode and OpenClaw, for you and for this
directory. Their files stay as they are. See docs/connect.md.

Credentials are written as they are in those files, unless you give
--references or --secrets. A file that others can read gets none.`;

export const COMMANDS = [
  command({
    name: "import",
    about: "copy servers from your other applications",
    args: [
      { kind: "any", name: "servers", about: "only servers with these names", offers: "server" },
    ],
    options: {
      from: {
        kind: "list",
        name: "--from",
        value: "application",
        about: "only from this one, or from a file; may be repeated",
        offers: "application",
      },
      write: { kind: "flag", name: "--write", about: "add them to your configuration" },
      scope: SCOPE,
      references: {
        kind: "flag",
        name: "--references",
        about: "write ${NAME} in place of credentials",
      },
      secrets: {
        kind: "optional",
        name: "--secrets",
        value: "provider",
        about: "store credentials as secrets, and write references to them",
        choices: SECRET_STORES,
        without: ["references"],
      },
      force: {
        kind: "flag",
        name: "--force",
        about: "replace servers of the same name that are different",
      },
      yes: YES,
      check: {
        kind: "denial",
        name: "--no-check",
        about: "do not start the servers after they were written",
      },
    },
    notes: NOTES,
    examples: [
      "plugboard import",
      "plugboard import --write",
      "plugboard import github --from cursor --write --secrets",
    ],
    read: (names, { secrets: to, ...given }): ImportRequest => ({
      names,
      ...given,
      ...(to !== undefined && { secrets: to === true ? {} : { to } }),
    }),
    run: async (request, context) => (await import("./import.ts")).runImport(request, context),
  }),
];
