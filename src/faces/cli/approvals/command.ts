// `plugboard approvals` on the command line.

import type { Command as Parser } from "commander";

export interface ApprovalsCommand {
  kind: "approvals";
  action: { kind: "list" } | { kind: "forget"; pattern: string } | { kind: "forget-all" };
}

const HELP = `
An approval is your answer "always" to the question whether a tool may be
called. It holds for one agent, until the tool or the definition of its server
changes. For servers that an editor brings, it ends with the session and is not
listed here.

With --agent <id>, only the approvals of that agent.`;

export function describeApprovals(
  program: Parser,
  choose: (command: ApprovalsCommand) => void,
  refuse: (parser: Parser, word: string) => never,
): void {
  const approvals = program
    .command("approvals")
    .description('list the tools that you have always allowed ("always"), and forget them')
    .usage("[options] [command]")
    .addHelpText("after", HELP)
    .allowExcessArguments()
    .action(() => {
      const [word] = approvals.args;
      if (word !== undefined) refuse(approvals, word);
      choose({ kind: "approvals", action: { kind: "list" } });
    });
  approvals
    .command("list")
    .description("list the tools that you have always allowed")
    .action(() => choose({ kind: "approvals", action: { kind: "list" } }));
  const forget = approvals
    .command("forget")
    .description("ask again before the next call of a tool")
    .argument("[pattern]", "server/tool with * for any text, or a server for all its tools")
    .option("--all", "forget every approval")
    .action((pattern: string | undefined, options: Record<string, unknown>) => {
      if ((options["all"] === true) === (pattern !== undefined)) {
        forget.error("error: say what to forget: server/tool, a server, or --all");
      }
      choose({
        kind: "approvals",
        action: pattern === undefined ? { kind: "forget-all" } : { kind: "forget", pattern },
      });
    });
}
