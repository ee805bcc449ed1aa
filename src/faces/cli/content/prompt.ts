// `plugboard prompt`: one prompt, filled in, as a server words it.

import type { PromptMessage } from "../../../model/prompt.ts";
import { plainText } from "../../../util/text.ts";
import { invalidArguments } from "../args/invalid.ts";
import { type GivenArguments, type GivenValue, readTokens } from "../args/tokens.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import type { PromptCommand } from "../invocation.ts";
import { withBoard } from "../open.ts";
import { resultText } from "../call/result.ts";
import { whileStarting } from "../status/starting.ts";

export async function runPrompt(
  { name, args }: PromptCommand,
  context: CliContext,
): Promise<number> {
  const { io, signal, screen, options } = context;
  // First, since no server need be started for arguments that cannot be read.
  const given = await readTokens(args, {
    io,
    signal,
    onPrompt: () => screen.note("reading from the terminal; Ctrl-D ends it"),
  });
  const values = toStrings(given);
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

/** A prompt takes nothing but texts. */
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

/** Who speaks is said where it is not the user alone. */
function messagesText(messages: readonly PromptMessage[]): string {
  const isOne = messages.every(({ role }) => role === "user");
  const parts = messages.map(({ role, content }) => {
    const text = resultText({ content: [content] });
    return isOne ? text : `${role}:\n${text}`;
  });
  return parts.length === 0 ? "(empty prompt)\n" : parts.join("\n");
}
