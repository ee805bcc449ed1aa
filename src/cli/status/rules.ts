// Rules that match no tool, for people: something may run that they were meant to stop.

import type { UnmatchedRule } from "../../core/types/guard-settings.ts";
import { oneLine } from "../../util/text.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { wrap } from "../terminal/width.ts";

export function ruleLines(rules: readonly UnmatchedRule[], { out }: Terminal): string[] {
  const lines = rules.flatMap(({ rule, setting, problem }) => {
    const sentence = `the rule "${oneLine(rule, 200)}" in ${setting} ${problem}`;
    const [first = "", ...rest] = wrap(sentence, (out.width ?? Infinity) - 2);
    return [`${out.paint("yellow", "!")} ${first}`, ...rest.map((line) => `  ${line}`)];
  });
  return lines.length === 0 ? [] : ["", ...lines];
}
