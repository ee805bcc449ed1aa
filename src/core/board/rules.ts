// Tells which rules of a board match no tool, resource or prompt, once those of their servers are known.

import { UnmatchedRules } from "../guard/unmatched-rules.ts";
import type { AgentConfig } from "../types/agent-config.ts";
import type { Diagnostic } from "../types/diagnostic.ts";
import type { UnmatchedRule } from "../types/guard-settings.ts";
import type { Logger } from "../types/logger.ts";
import type { Subject } from "../types/guard.ts";
import type { KnownNames, ToolName } from "../types/tool-pattern.ts";
import type { ContentCaches } from "./content/content-caches.ts";
import { oneLine } from "../../util/text.ts";
import type { ServerEntry } from "./server-entry.ts";
import type { ServerSet } from "./server-set.ts";
import type { BoardTools } from "./tools.ts";

export interface BoardRulesOptions {
  agent: AgentConfig;
  known: KnownNames;
  tools: BoardTools;
  nameOf: (subject: Subject) => ToolName;
  servers: Pick<ServerSet, "get">;
  caches: Pick<ContentCaches, "knownNames" | "isListed">;
  logger: Logger;
  /** Removes secrets: a URI that may have been meant can have one in it. */
  redact: <Value>(value: Value) => Value;
}

export class BoardRules {
  #options: BoardRulesOptions;
  #rules: UnmatchedRules;
  readonly #told = new Set<string>();
  #isOpen = false;
  /** Kept until tools change, since the status is asked for often. */
  #unmatched: UnmatchedRule[] | undefined;

  constructor(options: BoardRulesOptions) {
    this.#options = options;
    this.#rules = rulesOf(options);
  }

  /** Other rules apply from now on. Those that were logged are not logged again. */
  reconfigure(given: Pick<BoardRulesOptions, "agent" | "known">): void {
    this.#options = { ...this.#options, ...given };
    this.#rules = rulesOf(this.#options);
    this.changed();
  }

  unmatched(): UnmatchedRule[] {
    if (this.#rules.isEmpty) return [];
    const { tools, nameOf, servers, caches, redact } = this.#options;
    this.#unmatched ??= redact(
      this.#rules.find({
        tools: [...tools.all().map(({ subject }) => nameOf(subject)), ...caches.knownNames()],
        isListed: (name, kind) =>
          kind === "tool" ? servers.get(name)?.isKnown === true : caches.isListed(name, kind),
      }),
    );
    return this.#unmatched;
  }

  /** Those that restrict and name the server. */
  diagnostics({ name }: ServerEntry): Diagnostic[] {
    return this.unmatched()
      .filter(({ restricts, servers }) => restricts && servers?.includes(name))
      .map(({ rule, setting, problem }) => ({
        server: name,
        message: `the rule ${quoted(rule)} in ${setting} ${problem}`,
        kind: "rule",
      }));
  }

  /** Call this when tools, or the known lists of resources or prompts, have changed. */
  changed(): void {
    this.#unmatched = undefined;
    if (this.#isOpen) this.#warn();
  }

  /** Call this when the board is open. Nothing is logged before, because most tools are not known yet. */
  opened(): void {
    this.#isOpen = true;
    this.#warn();
  }

  /** Logs each rule once. What may be a precaution is only in the status. */
  #warn(): void {
    for (const unmatched of this.unmatched()) {
      const { rule, setting, problem, servers } = unmatched;
      const [server, ...others] = servers ?? [];
      const key = `${setting} ${rule}`;
      if (isPrecaution(unmatched) || this.#told.has(key)) continue;
      this.#told.add(key);
      this.#options.logger.warn(`the rule ${quoted(rule)} ${problem}`, {
        // A command that is about another server leaves it out.
        ...(others.length === 0 && { server }),
        setting,
      });
    }
  }
}

function rulesOf({ agent, known }: BoardRulesOptions): UnmatchedRules {
  const rules = agent.guard?.rules ?? [];
  return new UnmatchedRules({ rules, servers: agent.servers, known });
}

function quoted(rule: string): string {
  return `"${oneLine(rule, 200)}"`;
}

/** It restricts tools of any server, or a server that a session may bring: it may match nothing on purpose. */
export function isPrecaution({ rule, restricts, servers, nearest }: UnmatchedRule): boolean {
  if (!restricts) return false;
  return servers === undefined ? rule.includes("*") : servers.length === 0 && nearest === undefined;
}

/** What is wrong with the rule, and what follows from it where it was meant to stop something. */
export function problemAndConsequence({
  problem,
  restricts,
}: Pick<UnmatchedRule, "problem" | "restricts">): string {
  if (!restricts) return problem;
  const isQuestion = problem.endsWith("?");
  return `${problem}${isQuestion ? " What" : "; what"} it was meant to stop is allowed`;
}
