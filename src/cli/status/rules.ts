// What of the rules and pins needs a person: a rule that matches no tool does not stop what it was meant to stop, and a tool
// that has changed may not do what it did.

import { pinMode } from "../../core/board/guard.ts";
import type { AgentConfig } from "../../core/types/agent-config.ts";
import type { UnmatchedRule } from "../../core/types/guard-settings.ts";
import type { ServerStatus } from "../../core/types/server-status.ts";
import { oneLine, shellWord } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { offeredCommand } from "../offered-command.ts";
import type { OutputView, Terminal } from "../terminal/terminal.ts";
import { wrap } from "../terminal/width.ts";

export function ruleLines(rules: readonly UnmatchedRule[], { out }: Terminal): string[] {
  return warnings(
    rules.map(
      ({ rule, setting, problem }) => `the rule "${oneLine(rule, 200)}" in ${setting} ${problem}`,
    ),
    out,
  );
}

/** A line for each server that does not offer what was pinned. */
export function pinLines(
  servers: readonly ServerStatus[],
  agent: AgentConfig,
  { screen, options }: Pick<CliContext, "screen" | "options">,
): string[] {
  const sentences = servers.flatMap(({ name, diagnostics }) => {
    if (!diagnostics.some(({ kind }) => kind === "pins")) return [];
    const definition = agent.servers.find((each) => each.name === name);
    const isBlocked = definition !== undefined && pinMode(definition, agent) === "block";
    const consequence = isBlocked
      ? "and is refused until you approve it"
      : 'and is still used; "pins": "block" would refuse it until you approve it';
    const command = offeredCommand(`pins show ${shellWord(name)}`, options);
    return `what '${visible(name)}' offers differs from what you first saw, ${consequence}: ${command}`;
  });
  return warnings(sentences, screen.terminal.out);
}

function warnings(sentences: readonly string[], out: OutputView): string[] {
  const lines = sentences.flatMap((sentence) => {
    const [first = "", ...rest] = wrap(sentence, (out.width ?? Infinity) - 2);
    return [`${out.paint("yellow", "!")} ${first}`, ...rest.map((line) => `  ${line}`)];
  });
  return lines.length === 0 ? [] : ["", ...lines];
}
