// `plugboard approvals` on the command line.

import type { Command as Parser } from "commander";
import type { ApprovalAnswer } from "../../../model/approval.ts";

export interface ApprovalsCommand {
  kind: "approvals";
  action:
    | { kind: "list" }
    /** One call that waits, with nothing left out. */
    | { kind: "show"; id: string }
    | { kind: "answer"; id: string; answer: ApprovalAnswer }
    | { kind: "forget"; pattern: string }
    | { kind: "forget-all" };
}

const HELP = `
A call through the gateway waits for your answer if it needs approval and its
client cannot ask anybody. It is listed first, with an id to answer it by. The
answer is for this one call; with --always also for every further call of the
tool by the same caller.

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
    .description("answer calls that wait for approval; list and forget what you always allow")
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
    .description("list the calls that wait, and the tools that you have always allowed")
    .action(() => choose({ kind: "approvals", action: { kind: "list" } }));
  const toAnswer = (id: string, answer: ApprovalAnswer): void =>
    choose({ kind: "approvals", action: { kind: "answer", id, answer } });
  approvals
    .command("show")
    .description("show a call that waits, with all of its arguments")
    .argument("<id>", "as listed")
    .action((id: string) => choose({ kind: "approvals", action: { kind: "show", id } }));
  approvals
    .command("allow")
    .description("let a call that waits go on")
    .argument("<id>", "as listed")
    .option("--always", "and every further call of this tool by this caller")
    .action((id: string, { always }: { always?: true }) =>
      toAnswer(id, always === true ? "always" : "once"),
    );
  approvals
    .command("refuse")
    .description("refuse a call that waits")
    .argument("<id>", "as listed")
    .action((id: string) => toAnswer(id, "refuse"));
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
