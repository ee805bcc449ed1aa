// `plugboard prompts`: lists the prompts of all servers.

import type { Prompt, PromptArgument } from "../../../model/prompt.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { withBoard } from "../open.ts";
import { stateToJson, unavailableNotes } from "../status/server-state.ts";
import { whileStarting } from "../status/starting.ts";
import { hasWords, listByServer, type ListLine } from "../terminal/list.ts";
import type { PromptsCommand } from "./command.ts";

export async function runPrompts(
  { server, query }: PromptsCommand,
  context: CliContext,
): Promise<number> {
  const { screen, options } = context;
  return withBoard(context, { start: "none", server }, async ({ board }) => {
    const listed = await whileStarting(board, context, board.prompts.list());
    const prompts = listed.filter(({ server: from, name, title, description }) =>
      hasWords([`${from}/${name}`, title, description], query),
    );
    const servers = board.status();
    if (options.json) {
      const states = servers.map(({ name, state }) => ({ name, state: stateToJson(state) }));
      screen.json({ prompts, servers: states });
      return EXIT.ok;
    }
    screen.lines(listByServer(prompts.map(line), "prompt", screen.terminal.out));
    for (const note of unavailableNotes(servers)) screen.note(note);
    if (prompts.length === 0) {
      screen.note(query.length === 0 ? "no prompts" : `no prompt matches '${query.join(" ")}'`);
    }
    return EXIT.ok;
  });
}

/** `demo/greet  who=… [tone=…]  Says hello.` */
function line({ server, name, title, description, arguments: args = [] }: Prompt): ListLine {
  const usage = args.map(asUsed).join(" ");
  const about = [usage, description ?? title ?? ""].filter((part) => part !== "").join("  ");
  return { server, name: `${server}/${name}`, about };
}

function asUsed({ name, required }: PromptArgument): string {
  return required === true ? `${name}=…` : `[${name}=…]`;
}
