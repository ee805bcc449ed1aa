// The commands of a block, and what the page says that they print.

import type { Block } from "./page.ts";

export interface Command {
  /** As a shell reads it; without `$ `, and with the lines that a backslash continues. */
  text: string;
  /** In the page. */
  line: number;
  /** Undefined in a block of commands alone. */
  expected?: readonly string[];
}

const PROMPT = "$ ";

/** ` ```console `: a command behind each `$ `, and under it what a terminal shows. ` ```sh `: commands alone. */
export function commandsIn({ language, lines, line }: Block): Command[] {
  const commands: { text: string; line: number; expected?: string[] }[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const first = lines[at] ?? "";
    if (language === "console" && !first.startsWith(PROMPT)) {
      const last = commands.at(-1);
      if (last === undefined) throw new Error(`line ${line + 1}: a console block begins with "$ "`);
      last.expected?.push(first);
      continue;
    }
    const place = line + 1 + at;
    let text = language === "console" ? first.slice(PROMPT.length) : first;
    while (text.endsWith("\\") && at + 1 < lines.length) {
      at += 1;
      text = `${text}\n${lines[at] ?? ""}`;
    }
    if (text.trim() === "" || text.trimStart().startsWith("#")) continue;
    commands.push({ text, line: place, ...(language === "console" && { expected: [] }) });
  }
  return commands.map(({ expected, ...rest }) => ({
    ...rest,
    ...(expected && { expected: withoutEnd(expected) }),
  }));
}

/** Empty lines before the next command are for the reader. */
function withoutEnd(lines: string[]): string[] {
  const last = lines.findLastIndex((line) => line !== "");
  return lines.slice(0, last + 1);
}

/** What the page shows somebody typing at a question. */
export function typedIn(expected: readonly string[]): string[] {
  return expected.flatMap((line) => /\[(?:y\/N|Y\/n)\] (\S+)$/.exec(line)?.[1] ?? []);
}

/** The lines of a console block, with what the commands really print in place of what it says. */
export function rewritten(
  { lines }: Block,
  commands: readonly Command[],
  outputs: readonly string[],
): string[] {
  const starts = lines.flatMap((line, index) => (line.startsWith(PROMPT) ? [index] : []));
  return commands.flatMap((command, index) => {
    const start = starts[index] ?? 0;
    const words = lines.slice(start, start + command.text.split("\n").length);
    const output = outputs[index] ?? "";
    const gap = index < commands.length - 1 && lines[(starts[index + 1] ?? 0) - 1] === "";
    return [...words, ...(output === "" ? [] : output.split("\n")), ...(gap ? [""] : [])];
  });
}
