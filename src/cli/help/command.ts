// `plugboard help`: help for a command, or what an error code means.

import type { Command as Parser } from "commander";
import type { ErrorCode } from "../../core/types/errors.ts";
import { examples } from "../examples.ts";
import { ERROR_CODES } from "../exit-code.ts";

export interface HelpCommand {
  kind: "help";
  /** The code to explain; undefined lists all of them. */
  code: ErrorCode | undefined;
}

type Choose = (command: HelpCommand) => void;
/** Ends with an error that suggests the nearest command, or the nearest of `others`. */
type Refuse = (program: Parser, word: string, others?: readonly string[]) => never;

/** In place of commander's own, which says nothing about a command that does not exist. */
export function describeHelp(program: Parser, choose: Choose, refuse: Refuse): void {
  program
    .command("help")
    .description("show help for a command, or what an error code means")
    .usage("[command | error code | errors]")
    .argument("[command...]")
    .addHelpText("after", examples("plugboard help add", "plugboard help SPAWN_FAILED"))
    .action((words: string[]) => {
      const [first = ""] = words;
      const isCommand = program.commands.some((each) => each.name() === first);
      const code = isCommand ? undefined : codeOf(first);
      if (words.length === 1 && code !== undefined) return choose({ kind: "help", code });
      if (words.length === 1 && first === "errors")
        return choose({ kind: "help", code: undefined });
      let shown = program;
      for (const word of words) {
        const found = shown.commands.find((each) => each.name() === word);
        if (found === undefined) refuse(shown, word, shown === program ? TOPICS : []);
        shown = found;
      }
      shown.help();
    });
}

const TOPICS: readonly string[] = [...ERROR_CODES, "errors"];

/** `spawn-failed` is taken too. */
function codeOf(word: string): ErrorCode | undefined {
  const wanted = word.toUpperCase().replaceAll("-", "_");
  return ERROR_CODES.find((code) => code === wanted);
}
