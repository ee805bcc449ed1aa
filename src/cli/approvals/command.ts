// `plugboard approvals` on the command line.

import type { Command as Parser } from "commander";
import type { ApprovalAnswer } from "../../core/types/approval.ts";
import { examples } from "../examples.ts";

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
A call through the gateway waits for you if it needs approval and its client
cannot ask anybody. It is listed with an id, by which you answer it.

Where you answered "always", the tool is allowed for one agent, until the tool
or the definition of its server changes. --agent <id> shows one agent alone.

Examples:
  plugboard approvals
  plugboard approvals allow 7f3a --always
  plugboard approvals forget 'files/*'`;

export function describeApprovals(
  program: Parser,
  choose: (command: ApprovalsCommand) => void,
  refuse: (parser: Parser, word: string) => never,
): void {
  const approvals = program
    .command("approvals")
    .description("answer calls that wait, and see what you allowed")
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
    .addHelpText("after", examples("plugboard approvals list"))
    .action(() => choose({ kind: "approvals", action: { kind: "list" } }));
  const toAnswer = (id: string, answer: ApprovalAnswer): void =>
    choose({ kind: "approvals", action: { kind: "answer", id, answer } });
  approvals
    .command("show")
    .description("show a call that waits, with all of its arguments")
    .argument("<id>", "as listed")
    .addHelpText("after", examples("plugboard approvals show 7f3a"))
    .action((id: string) => choose({ kind: "approvals", action: { kind: "show", id } }));
  approvals
    .command("allow")
    .description("let a call that waits go on")
    .argument("<id>", "as listed")
    .option("--always", "and every further call of this tool by this caller")
    .addHelpText(
      "after",
      examples("plugboard approvals allow 7f3a", "plugboard approvals allow 7f3a --always"),
    )
    .action((id: string, { always }: { always?: true }) =>
      toAnswer(id, always === true ? "always" : "once"),
    );
  approvals
    .command("refuse")
    .description("refuse a call that waits")
    .argument("<id>", "as listed")
    .addHelpText("after", examples("plugboard approvals refuse 7f3a"))
    .action((id: string) => toAnswer(id, "refuse"));
  const forget = approvals
    .command("forget")
    .description("ask again before the next call of a tool")
    .argument("[pattern]", "server/tool with * for any text, or a server for all its tools")
    .option("--all", "forget every approval")
    .addHelpText(
      "after",
      examples("plugboard approvals forget 'files/*'", "plugboard approvals forget --all"),
    )
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
