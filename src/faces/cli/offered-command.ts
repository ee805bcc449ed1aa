// Commands that are offered for copying: each on a line of its own, with the configuration and the agent that were
// given, so that pasting it does what was meant.

import { shellQuoted } from "../../util/text.ts";
import type { GlobalOptions } from "./context.ts";

type Given = Pick<GlobalOptions, "config" | "agent">;

/** `words` are everything after `plugboard`, quoted for a shell. */
export function offeredCommand(words: string, { config, agent }: Given): string {
  const options = Object.entries({ config, agent }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${shellQuoted(value)} `],
  );
  return `plugboard ${options.join("")}${words}`;
}

const START = "plugboard ";

/** The lines of a text. A command at the end of one, as in `to sign in: plugboard login docs`, goes to the next line. */
export function commandsApart(text: string, given: Given): string[] {
  return text.split("\n").flatMap((line) => {
    const isCommand = line.trimStart().startsWith(START);
    const at = isCommand ? line.indexOf(START) : line.lastIndexOf(`: ${START}`) + 2;
    if (at === 1) return [line];
    const words = line.slice(at + START.length);
    // It names its own configuration.
    const command = words.startsWith("--") ? line.slice(at) : offeredCommand(words, given);
    return isCommand ? [`  ${command}`] : [line.slice(0, at - 1), `  ${command}`];
  });
}
