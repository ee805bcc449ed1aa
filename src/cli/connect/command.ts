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
Applications: claude-code, claude-desktop, cursor, windsurf, cline, vscode,
zed, jetbrains, codex, gemini, opencode, openclaw. Without one, shows which are
here, and which are connected. See docs/connect.md.

It shows the change to the application's own file, and asks. The entry starts
plugboard serve; Zed and JetBrains IDEs also get one for the agent, plugboard
acp.

Examples:
  plugboard connect claude-code
  plugboard connect claude-code --undo`;

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
    .description("put your servers into Claude Code, Cursor, …")
    .argument("[application]", "where to")
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
