// `plugboard connect` on the command line.

import { command, Mistake } from "../command.ts";
import { YES } from "../shared-options.ts";

export type ConnectRequest = { action: "list" } | ({ action: "connect" | "undo" } & ConnectOptions);

export interface ConnectOptions {
  application: string;
  /** In place of the application's file of this user. */
  file?: string;
  /** Only as an MCP server, or only as an ACP agent. */
  as?: "server" | "agent";
  /** Move the application's own servers onto the board. False: ask. Absent: leave them. */
  move?: boolean;
  yes: boolean;
}

const NOTES = `
Applications: claude-code, claude-desktop, cursor, windsurf, cline, vscode,
zed, jetbrains, codex, gemini, opencode, openclaw. Without one, shows which are
here, and which are connected. See docs/connect.md.

It shows the change to the application's own file, and asks. It offers to move
the servers in that file onto the board; --undo puts them back. The entry
starts plugboard serve; Zed and JetBrains IDEs also get one for the agent,
plugboard acp.`;

export const COMMANDS = [
  command({
    name: "connect",
    about: "put your servers into Claude Code, Cursor, …",
    args: [
      {
        kind: "maybe",
        name: "application",
        about: "the application to put them into",
        offers: "application",
      },
    ],
    options: {
      undo: { kind: "flag", name: "--undo", about: "take it out again" },
      file: {
        kind: "value",
        name: "--file",
        value: "file",
        about: "change this file of the application",
        offers: "file",
      },
      as: {
        kind: "value",
        name: "--as",
        value: "what",
        about: "only as an MCP server, or only as an ACP agent",
        choices: ["server", "agent"],
      },
      move: {
        kind: "flag",
        name: "--move",
        about: "move the application's own servers onto the board",
        without: ["undo"],
      },
      yes: YES,
    },
    notes: NOTES,
    examples: ["plugboard connect claude-code", "plugboard connect claude-code --undo"],
    read: ([application], { undo, file, as, move, yes }): ConnectRequest | Mistake => {
      if (application !== undefined) {
        return { action: undo ? "undo" : "connect", application, file, as, move, yes };
      }
      // A list that ignores --undo looks as if it had done something.
      const isChange = undo || yes || move || file !== undefined || as !== undefined;
      return isChange ? new Mistake("missing required argument 'application'") : { action: "list" };
    },
    run: async (request, context) => (await import("./connect.ts")).runConnect(request, context),
  }),
];
