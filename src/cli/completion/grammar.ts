// What can be typed after `plugboard`, as plain data. The build writes it to a file (../describe-grammar.ts), so that
// completing a word does not load the parser.

import { readFileSync } from "node:fs";

/** What stands in a place: one of these words, or something that is looked up when it is completed. */
export type Values = readonly string[] | Looked;

type Looked =
  | "agent"
  | "argument"
  | "command"
  | "directory"
  | "file"
  | "model"
  /** A text of your own: nothing is offered, and files only where you begin to type a path. */
  | "own"
  | "server"
  /** `server/tool`, or a server for all its tools. */
  | "target"
  | "tool";

export interface CommandGrammar {
  name: string;
  aliases: readonly string[];
  about: string;
  options: readonly OptionGrammar[];
  args: readonly ArgumentGrammar[];
  commands: readonly CommandGrammar[];
  /** The words after `--` are a program and its arguments. */
  takesProgram: boolean;
}

export interface OptionGrammar {
  /** `--env` and `-e`. */
  names: readonly string[];
  about: string;
  /** Absent if it takes none. */
  values?: Values;
  isOptional?: true;
}

export interface ArgumentGrammar {
  values: Values;
  isVariadic: boolean;
}

/** As the build has written it, also when this module runs from its source. */
export function readGrammar(): CommandGrammar {
  const here = import.meta.url;
  const path = here.endsWith(".ts") ? "../../../dist/cli/completion/" : "./";
  return JSON.parse(readFileSync(new URL(`${path}grammar.json`, here), "utf8")) as CommandGrammar;
}
