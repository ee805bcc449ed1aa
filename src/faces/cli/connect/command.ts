// `plugboard connect` on the command line.

import { type Command as Parser, Option } from "commander";

export type ConnectCommand = { kind: "connect" } & (
  | { action: "list" }
  | ({ action: "connect" | "undo" } & ConnectOptions)
);

export interface ConnectOptions {
  application: string;
  /** In place of the application's file of this user. */
  file?: string;
  /** Only as an MCP server, or only as an ACP agent. */
  as?: "server" | "agent";
  yes: boolean;
}

const HELP = `
Applications:
  claude-code, claude-desktop, cursor, windsurf, cline, vscode, zed, jetbrains,
  codex, gemini, opencode, openclaw

Without an application it shows which of them are here, and which are connected.

It shows the change to the application's own file and asks before it writes.
The entry starts plugboard serve with your configuration. In Zed and in
JetBrains IDEs there is one for the agent, plugboard acp, too. --undo makes the
file what it was. For OpenClaw there is more: plugboard openclaw setup --help.`;

interface Given {
  undo?: true;
  file?: string;
  as?: "server" | "agent";
  yes?: true;
}

export function describeConnect(program: Parser, choose: (command: ConnectCommand) => void): void {
  const as = new Option("--as <what>", "only as an MCP server, or only as an ACP agent");
  const parser = program
    .command("connect")
    .description("put your servers into another application, such as claude-code or cursor")
    .argument("[application]", "where to; without it, what is here and what is connected")
    .option("--undo", "take it out again")
    .option("--file <file>", "change this file of the application")
    .addOption(as.choices(["server", "agent"]))
    .option("--yes", "do not ask")
    .addHelpText("after", HELP)
    .action((application: string | undefined, { undo, file, as: what, yes }: Given) => {
      // A list that ignores --undo looks as if it had done something.
      if (application === undefined && (undo ?? file ?? what ?? yes) !== undefined) {
        parser.error("error: missing required argument 'application'");
      }
      choose(
        application === undefined
          ? { kind: "connect", action: "list" }
          : {
              kind: "connect",
              action: undo ? "undo" : "connect",
              application,
              ...(file !== undefined && { file }),
              ...(what !== undefined && { as: what }),
              yes: yes === true,
            },
      );
    });
}
