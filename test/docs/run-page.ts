// Runs the commands of a page, from top to bottom, and says which of them do not do what the page shows.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Command, commandsIn, rewritten, typedIn } from "./commands.ts";
import { difference } from "./compare.ts";
import type { Block, Directive, Page } from "./page.ts";
import { root } from "./pages.ts";
import { kindOf } from "./programs.ts";
import type { Remote } from "./remote.ts";
import { type Ran, Sandbox } from "./sandbox.ts";

/** These run until they are stopped. */
const RUNS_ON = /^plugboard (?:--\S+ \S+ )*(?:up|serve|acp)\b(?!.*(?:--help|--check))/;
/** What they say once they can be used. */
const READY = /listens on|This command is for/;
/** More than any block of commands asks. */
const YES = Array.from({ length: 10 }, () => "y");

export function isRun({ language, directive }: Block): boolean {
  return ["console", "sh"].includes(language) && directive["not-run"] === undefined;
}

/** Resolves to what is wrong, one text for each command. With `update`, what blocks show is written anew instead. */
export async function runPage(page: Page, remote: Remote, update: boolean): Promise<string[]> {
  const problems: string[] = [];
  const changes: { block: Block; lines: string[] }[] = [];
  let sandbox: Sandbox | undefined;
  try {
    for (const block of page.blocks) {
      const { home, before, save } = block.directive;
      if (!isRun(block) && save === undefined) continue;
      if (home !== undefined || sandbox === undefined) {
        await sandbox?.close();
        sandbox = await Sandbox.open(home ?? "default", remote);
      }
      if (save !== undefined) {
        sandbox.save(save, `${block.lines.join("\n")}\n`);
        continue;
      }
      if (before !== undefined) {
        const hidden = { text: before, line: block.line - 1 };
        problems.push(...described(page, hidden, await run(hidden, {}, sandbox), "0"));
      }
      const commands = commandsIn(block);
      const outputs: string[] = [];
      let isChanged = false;
      for (const command of commands) {
        const ran = await run(command, block.directive, sandbox, update);
        const { exit = "0" } = command === commands.at(-1) ? block.directive : {};
        const wrong = described(page, command, ran, exit);
        isChanged ||= wrong.length > 0;
        outputs.push(wrong.length > 0 ? (ran?.output ?? "") : (command.expected ?? []).join("\n"));
        const canMend = command.expected !== undefined && String(ran?.code) === exit;
        if (!update || !canMend) problems.push(...wrong);
      }
      if (isChanged && block.language === "console") {
        changes.push({ block, lines: rewritten(block, commands, outputs) });
      }
    }
  } finally {
    await sandbox?.close();
  }
  if (update && changes.length > 0) rewrite(page, changes);
  return problems;
}

/** Undefined for a command of another program. */
async function run(
  { text, expected }: Command,
  directive: Directive,
  sandbox: Sandbox,
  update = false,
): Promise<Ran | undefined> {
  const { kind } = kindOf(text);
  if (kind === "not-run") return undefined;
  if (kind === "shell") return sandbox.shell(text);
  const { columns, stdin, type } = directive;
  const width = columns === undefined ? {} : { columns: Number(columns) };
  const isOther = directive["background"] !== undefined;
  if (RUNS_ON.test(text) || isOther) {
    const isShown = expected !== undefined && expected.length > 0 && !update;
    const isReady = (output: string): boolean =>
      isShown
        ? difference(expected, output) === undefined
        : READY.test(output) || (isOther && output !== "");
    return sandbox.background(text, isReady, width);
  }
  const shown = typedIn(expected ?? []);
  const typed =
    type?.split(",").filter((each) => each !== "") ??
    (expected === undefined || (update && shown.length === 0) ? YES : shown);
  return sandbox.plugboard(text, { ...width, typed, ...(stdin !== undefined && { stdin }) });
}

function described(page: Page, command: Command, ran: Ran | undefined, exit: string): string[] {
  if (ran === undefined) return [];
  const { text, line, expected } = command;
  const place = `${page.path}:${line}: ${text}`;
  const code =
    String(ran.code) === exit
      ? []
      : [
          `exit code ${ran.code} instead of ${exit}${expected === undefined ? `:\n${ran.output}` : ""}`,
        ];
  const diff = expected === undefined ? undefined : difference(expected, ran.output);
  const shown = diff === undefined ? [] : [`- as the page shows it, + as it is\n${diff}`];
  const wrong = [...code, ...shown];
  return wrong.length === 0 ? [] : [[place, ...wrong].join("\n")];
}

function rewrite(page: Page, changes: readonly { block: Block; lines: string[] }[]): void {
  const path = join(root, page.path);
  const lines = readFileSync(path, "utf8").split("\n");
  for (const { block, lines: written } of changes.toReversed()) {
    const indent = /^\s*/.exec(lines[block.line - 1] ?? "")?.[0] ?? "";
    const indented = written.map((line) => (line === "" ? "" : indent + line));
    lines.splice(block.line, block.lines.length, ...indented);
  }
  writeFileSync(path, lines.join("\n"));
}
