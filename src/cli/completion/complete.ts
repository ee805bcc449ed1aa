// `plugboard __complete`: what the scripts of `plugboard completion` ask while you type. Starts nothing, prints no errors,
// and loads as little as it can.

import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { readBashLine } from "./bash-line.ts";
import { type Candidate, type Candidates, candidatesFor } from "./candidates.ts";
import { type CommandGrammar, readGrammar } from "./grammar.ts";
import { knownNames, type Surroundings } from "./known-names.ts";

/** A directory may have any number of files. */
const MOST_FILES = 1000;

/**
 * `args` are the shell, and for bash the line up to the cursor and its COMP_WORDBREAKS; for others the words, of which the
 * last is being typed. The answer is a line that says what the shell is to complete itself, and a line for each candidate.
 */
export async function complete(
  args: readonly string[],
  around: Surroundings,
  grammar: CommandGrammar = readGrammar(),
): Promise<string> {
  const [shell, ...rest] = args;
  if (shell === "bash") {
    const { words, isRedirected, toInsert } = readBashLine(rest[0] ?? "", rest[1] ?? "");
    if (isRedirected) return answer({ shell: "files", candidates: [] }, () => undefined);
    const found = await candidatesFor(words, sources(grammar, around));
    return answer(found, ({ value }) => toInsert(value));
  }
  const found = await candidatesFor(rest, sources(grammar, around));
  return answer(found, ({ value, about = "" }) => `${value}\t${about}`);
}

/** `processIo` has them too, with all that a command needs. */
export function surroundingsOf(process: Pick<NodeJS.Process, "env" | "cwd">): Surroundings {
  return {
    env: process.env,
    // Fails if the directory has been removed, so it is read only where it is needed.
    get cwd() {
      return process.cwd();
    },
    homedir: homedir(),
  };
}

function sources(
  grammar: CommandGrammar,
  around: Surroundings,
): Parameters<typeof candidatesFor>[1] {
  return {
    grammar,
    names: (given) => knownNames(given, around),
    files: (directory) => filesIn(directory, around),
  };
}

function filesIn(directory: string, around: Surroundings): string[] {
  try {
    return readdirSync(resolve(around.cwd, directory), { withFileTypes: true })
      .slice(0, MOST_FILES)
      .map((each) => (each.isDirectory() ? `${each.name}/` : each.name));
  } catch {
    return [];
  }
}

/** Most names and texts. The check for all others takes longer than everything else here. */
const PLAIN = /^[ -~]*$/;

/** What a terminal would obey or hide, and the characters that separate candidates. No such name is offered. */
function isUnseen(text: string): boolean {
  return !PLAIN.test(text) && /[\p{C}\p{Zl}\p{Zp}]/u.test(text);
}

function answer(
  { shell = "none" as never, candidates }: Candidates,
  toLine: (candidate: Candidate) => string | undefined,
): string {
  const lines = candidates
    .filter(({ value }) => !isUnseen(value))
    .map(({ value, about = "" }) => toLine({ value, about: isUnseen(about) ? "" : about }))
    .filter((line) => line !== undefined);
  return `${[shell, ...lines].join("\n")}\n`;
}
