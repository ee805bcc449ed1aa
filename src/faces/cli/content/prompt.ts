// `plugboard prompt`: has a server fill in one prompt, and prints it.

import type { PromptMessage } from "../../../model/prompt.ts";
import { plainText } from "../../../util/text.ts";
import { invalidArguments } from "../args/invalid.ts";
import { type GivenArguments, type GivenValue, readTokens } from "../args/tokens.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { withBoard } from "../open.ts";
import { resultText } from "../call/result.ts";
import { whileStarting } from "../status/starting.ts";
import type { GetPromptCommand } from "./command.ts";

export async function runPrompt(
  { name, args }: GetPromptCommand,
  context: CliContext,
): Promise<number> {
  const { signal, screen, options } = context;
  // Before the board opens: arguments that cannot be read must not start a server.
  const values = toStrings(await readTokens(args, context));
  return withBoard(context, { start: "none" }, async ({ board }) => {
    const getting = board.prompts.get(name, values, { signal });
    const result = await whileStarting(board, context, getting);
    if (options.json) screen.json(result);
    else {
      const text = messagesText(result.messages);
      screen.out(screen.terminal.out.isTerminal ? plainText(text) : text);
    }
    return EXIT.ok;
  });
}

/** The arguments of a prompt are always texts. */
function toStrings({ whole, pairs }: GivenArguments): Record<string, string> {
  const values: Record<string, string> = Object.create(null);
  for (const [key, value] of Object.entries(whole)) values[key] = asString(value);
  const seen = new Set<string>();
  for (const { key, value } of pairs) {
    if (seen.has(key)) throw invalidArguments([`'${key}' is given twice`]);
    seen.add(key);
    values[key] = textOf(value);
  }
  return values;
}

function textOf(value: GivenValue): string {
  return value.kind === "json" ? asString(value.value) : value.text;
}

function asString(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Names the role of each message, unless the user is the only one. */
function messagesText(messages: readonly PromptMessage[]): string {
  const isOne = messages.every(({ role }) => role === "user");
  const parts = messages.map(({ role, content }) => {
    const text = resultText({ content: [content] });
    return isOne ? text : `${role}:\n${text}`;
  });
  return parts.length === 0 ? "(empty prompt)\n" : parts.join("\n");
}
