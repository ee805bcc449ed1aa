// What is to be said about several servers together: the same one twice, more tools than a prompt should have, and
// commands that only a terminal finds.

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { planPrompt } from "../../../core/board/prompt-plan.ts";
import { promptTokens } from "../../../core/tools/definition-tokens.ts";
import { programOf } from "../../../core/process/program.ts";
import type { AgentConfig } from "../../../core/types/agent-config.ts";
import type { ServerDefinition } from "../../../core/types/server-definition.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import { isOnPath } from "../../../util/on-path.ts";
import { shellWord } from "../../../util/text.ts";
import { roughly } from "../../../util/tokens.ts";
import type { CliIo } from "../../io.ts";
import type { EditorPath } from "../editor-path.ts";
import type { Finding } from "../finding.ts";
import type { Examined } from "./examine.ts";
import { listed } from "./judge.ts";
import { packageRunOf } from "./package-runner.ts";

/** Tokens that one server's tools may take of a prompt, and all together. */
const HEAVY_SERVER = 10_000;
const HEAVY_PROMPT = 25_000;

/** Servers that are started or reached in the same way: their tools are there twice. */
export function duplicates(servers: readonly ServerDefinition[]): Finding[] {
  const enabled = servers.filter((each) => each.enabled);
  const groups = grouped(enabled, (each) => canonicalJson(sameAs(each)));
  return [...groups.values()].flatMap(([first, ...others]): Finding[] => {
    const [other] = others;
    if (first === undefined || other === undefined) return [];
    const names = others.map(({ name }) => name);
    return [
      {
        level: "warning",
        check: "same-server-twice",
        subject: other.name,
        message: `${listed(names)}: the same server as ${first.name}, so a model gets each of its tools ${others.length === 1 ? "twice" : `${others.length + 1} times`}`,
        remedy: `switch one of them off: plugboard disable ${shellWord(other.name)}`,
      },
    ];
  });
}

/**
 * What makes two entries one server. The version of a package does not count, nor how a runner is told not to ask; the
 * registry does, because another one has another package of that name.
 */
function sameAs({ target }: ServerDefinition): unknown {
  if (target.kind === "acp") return target;
  if (target.kind !== "stdio") return [target.url.replace(/\/$/, ""), target.headers];
  const { command, args, env, cwd } = target;
  const run = packageRunOf(target);
  if (run === undefined) return [command, args, env, cwd ?? null];
  const own = args.slice(args.indexOf(run.spec) + 1);
  const { registry = [] } = programOf(command, args);
  return [run.runner, run.name, registry, own, env, cwd ?? null];
}

/** What the definitions of the tools take of a prompt, where a model does not search for them. */
export function weight(
  examined: readonly Examined[],
  { toolSearch = "auto" }: Pick<AgentConfig, "toolSearch">,
  contextWindow?: number,
): Finding[] {
  const tools = examined.flatMap((each) => each.tools);
  const plan = planPrompt(tools, {
    toolSearch,
    ...(contextWindow !== undefined && { contextWindow }),
  });
  const shown = new Set(plan.shown);
  const heavy = examined
    .map(({ definition, entry, tools: own }) => ({
      name: definition.name,
      entry,
      tokens: promptTokens(own.filter((tool) => shown.has(tool))),
    }))
    .filter(({ tokens }) => tokens > HEAVY_SERVER)
    .sort((a, b) => b.tokens - a.tokens);
  const total = promptTokens(plan.shown);
  const findings = heavy.map(({ name, entry, tokens }): Finding => ({
    level: "warning",
    check: "heavy-tools",
    subject: name,
    message: `${name}: its tools take ${roughly(tokens)} tokens of every prompt`,
    remedy: `let the model search for them, with "include": "agent" in ${entry}, or offer fewer of them, with "tools": { "allow": […] }`,
  }));
  if (total <= HEAVY_PROMPT) return findings;
  findings.push({
    level: "warning",
    check: "heavy-prompt",
    message: `the tools of all servers take ${roughly(total)} tokens of every prompt${toolSearch === "off" ? ", because tool search is off" : ""}`,
    remedy:
      toolSearch === "off"
        ? 'let the model search for tools: write "toolSearch": "auto" into "mcp"'
        : 'let the model search for tools: write "toolSearch": "on" into "mcp"',
  });
  return findings;
}

/** Commands that are found on the PATH here, but not in an application that is started from a desktop. */
export function onlyInTerminal(
  servers: readonly ServerDefinition[],
  { env }: Pick<CliIo, "env">,
  { withShell }: Pick<EditorPath, "withShell">,
  platform: NodeJS.Platform = process.platform,
): Finding[] {
  const has = (PATH: string, command: string): boolean => isOnPath(command, { PATH }, platform);
  const groups = grouped(bareCommands(servers), ({ command }) => command);
  return [...groups].flatMap(([command, users]): Finding[] => {
    const path = env["PATH"] ?? "";
    if (has(withShell, command) || !has(path, command)) return [];
    const names = users.map(({ name }) => name);
    const directory = directoryOf(command, path);
    return [
      {
        level: "note",
        check: "command-not-on-desktop-path",
        subject: command,
        message: `${command} is in ${directory}, where neither a desktop nor your login shell looks: ${listed(names)} would not start in an editor`,
        remedy: `write the PATH into ${names.length === 1 ? "its entry" : "their entries"}:\n  "env": { "PATH": "${directory}${delimiter}${withShell}" }`,
      },
    ];
  });
}

/** Programs that are found by PATH. One with a PATH of its own is found anywhere. */
export function bareCommands(
  servers: readonly ServerDefinition[],
): { name: string; command: string }[] {
  return servers.flatMap(({ name, enabled, target }) => {
    if (!enabled || target.kind !== "stdio" || target.env["PATH"] !== undefined) return [];
    return /[/\\$~]/.test(target.command) ? [] : [{ name, command: target.command }];
  });
}

function directoryOf(command: string, path: string): string {
  const found = path.split(delimiter).find((directory) => {
    try {
      accessSync(join(directory, command), constants.X_OK);
      return directory !== "";
    } catch {
      return false;
    }
  });
  return found ?? "another directory";
}

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
