// What can be typed after `plugboard`, as plain data. The build writes it to a file (../describe-grammar.ts), so that
// completing a word loads no command.

import { readFileSync } from "node:fs";
import type { Values } from "../option.ts";

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
  const path = here.endsWith(".ts") ? "../../../dist/grammar.json" : "../../grammar.json";
  return JSON.parse(readFileSync(new URL(path, here), "utf8")) as CommandGrammar;
}
