// `plugboard help`: help for a command, or what an error code means.

import type { ErrorCode } from "../../core/types/errors.ts";
import { command, HelpWanted } from "../command.ts";
import { ERROR_CODES } from "../exit-code.ts";

export interface HelpRequest {
  /** The code to explain; undefined lists all of them. */
  code: ErrorCode | undefined;
}

export const COMMANDS = [
  command({
    name: "help",
    about: "show help for a command, or what an error code means",
    usage: ["[command | error code | errors]"],
    args: [{ kind: "any", name: "command", offers: "command" }],
    examples: ["plugboard help add", "plugboard help SPAWN_FAILED"],
    traits: { sparesHome: true },
    read: (words): HelpRequest | HelpWanted => {
      const [first = "", ...others] = words;
      if (others.length === 0 && first === ALL_CODES) return { code: undefined };
      const code = others.length === 0 ? codeOf(first) : undefined;
      return code === undefined ? new HelpWanted(words, [...ERROR_CODES, ALL_CODES]) : { code };
    },
    run: async (request, context) => (await import("./help.ts")).runHelp(request, context),
  }),
];

const ALL_CODES = "errors";

/** `spawn-failed` is taken too. */
function codeOf(word: string): ErrorCode | undefined {
  const wanted = word.toUpperCase().replaceAll("-", "_");
  return ERROR_CODES.find((code) => code === wanted);
}
