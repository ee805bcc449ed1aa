// `plugboard approvals` on the command line.

import type { ApprovalAnswer } from "../../core/types/approval.ts";
import { type Argument, command, Mistake } from "../command.ts";
import type { CliContext } from "../context.ts";

export interface ApprovalsRequest {
  action:
    | { kind: "list" }
    /** One call that waits, with nothing left out. */
    | { kind: "show"; id: string }
    | { kind: "answer"; id: string; answer: ApprovalAnswer }
    | { kind: "forget"; pattern: string }
    | { kind: "forget-all" };
}

const NOTES = `
A call through the gateway waits for you if it needs approval and its client
cannot ask anybody. It is listed with an id, by which you answer it.

Where you answered "always", the tool is allowed for one agent, until the tool
or the definition of its server changes. --agent <id> shows one agent alone.`;

const LIST: ApprovalsRequest = { action: { kind: "list" } };

const ID = [
  { kind: "one", name: "id", about: "the id of the call, as listed" },
] as const satisfies Argument[];

const run = async (request: ApprovalsRequest, context: CliContext): Promise<number> =>
  (await import("./approvals.ts")).runApprovals(request, context);

export const COMMANDS = [
  command({
    name: "approvals",
    about: "answer calls that wait, and see what you allowed",
    usage: ["[options] [command]"],
    notes: NOTES,
    examples: [
      "plugboard approvals",
      "plugboard approvals allow 7f3a --always",
      "plugboard approvals forget 'files/*'",
    ],
    commands: [
      command({
        name: "list",
        about: "list the calls that wait, and the tools that you have always allowed",
        examples: ["plugboard approvals list"],
        read: (): ApprovalsRequest => LIST,
        run,
      }),
      command({
        name: "show",
        about: "show a call that waits, with all of its arguments",
        args: ID,
        examples: ["plugboard approvals show 7f3a"],
        read: ([id]): ApprovalsRequest => ({ action: { kind: "show", id } }),
        run,
      }),
      command({
        name: "allow",
        about: "allow a call that waits",
        args: ID,
        options: {
          always: {
            kind: "flag",
            name: "--always",
            about: "also allow every further call of this tool by this caller",
          },
        },
        examples: ["plugboard approvals allow 7f3a", "plugboard approvals allow 7f3a --always"],
        read: ([id], { always }): ApprovalsRequest => ({
          action: { kind: "answer", id, answer: always ? "always" : "once" },
        }),
        run,
      }),
      command({
        name: "refuse",
        about: "refuse a call that waits",
        args: ID,
        examples: ["plugboard approvals refuse 7f3a"],
        read: ([id]): ApprovalsRequest => ({ action: { kind: "answer", id, answer: "refuse" } }),
        run,
      }),
      command({
        name: "forget",
        about: "ask again before the next call of a tool",
        args: [
          {
            kind: "maybe",
            name: "pattern",
            about: "server/tool with * for any text, or a server for all its tools",
            offers: "target",
          },
        ],
        options: { all: { kind: "flag", name: "--all", about: "forget every approval" } },
        examples: ["plugboard approvals forget 'files/*'", "plugboard approvals forget --all"],
        read: ([pattern], { all }): ApprovalsRequest | Mistake => {
          if (all === (pattern !== undefined)) {
            return new Mistake("say what to forget: server/tool, a server, or --all");
          }
          const action =
            pattern === undefined
              ? { kind: "forget-all" as const }
              : { kind: "forget" as const, pattern };
          return { action };
        },
        run,
      }),
    ],
    read: (): ApprovalsRequest => LIST,
    run,
  }),
];
