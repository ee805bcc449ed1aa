// The audit, the calls that are kept while a page is open, the state of references to secrets, and what each server adds to a
// prompt.

import { z } from "zod";
import { planPrompt } from "../../../../core/board/prompt-plan.ts";
import type { Board } from "../../../../core/types/board.ts";
import { PlugboardError } from "../../../../core/types/errors.ts";
import type { AuditSearch } from "../audit.ts";
import { callFor } from "../live.ts";
import { type Methods, NAME, NOTHING, WORDS } from "../method.ts";
import type { WatchedCalls } from "../watched-calls.ts";
import { AUDIT_PAGE } from "../wire.ts";

/** Lines of the audit: how far back a page can go, and how many are saved at once. */
const MOST_AUDIT = 1_000_000;
const MOST_EXPORT = 5000;
const LONGEST_REFERENCE = 2000;

export interface RecordMethodsOptions {
  audit: Pick<AuditSearch, "find">;
  calls: Pick<WatchedCalls, "show">;
  /** The agents whose boards are open. */
  agents: () => readonly { id: string; board: Board }[];
  boardOf: (agent: string) => Board;
}

export function recordMethods({
  audit,
  calls,
  agents,
  boardOf,
}: RecordMethodsOptions): Methods<
  "audit/search" | "calls/show" | "secrets/list" | "secrets/test" | "prompts/show"
> {
  return {
    "audit/search": {
      isForViewers: true,
      takes: z.strictObject({
        tool: WORDS.optional(),
        server: WORDS.optional(),
        caller: WORDS.optional(),
        rule: WORDS.optional(),
        outcome: z.enum(["ok", "failed", "refused", "suspicious", "decision"]).optional(),
        since: z.number().optional(),
        until: z.number().optional(),
        from: z.int().min(0).max(MOST_AUDIT).optional(),
        most: z.int().min(1).max(MOST_EXPORT).optional(),
      }),
      run: ({ from = 0, most = AUDIT_PAGE, ...query }, visitor) =>
        audit.find({ ...query, from, most }, visitor),
    },
    "calls/show": {
      isForViewers: true,
      takes: z.strictObject({ id: NAME }),
      run: async ({ id }, { role }) => {
        const call = calls.show(id);
        if (call === undefined) throw goneCall();
        const { facts, steps } = call;
        return role === "owner" ? call : { facts: callFor(role, facts), steps };
      },
    },
    "secrets/list": {
      takes: NOTHING,
      run: async () => ({
        secrets: agents().flatMap(({ id, board }) =>
          board.secrets.list().map((use) => ({ agent: id, ...use })),
        ),
      }),
    },
    "secrets/test": {
      takes: z.strictObject({ agent: NAME, reference: z.string().max(LONGEST_REFERENCE) }),
      run: async ({ agent, reference }) => ({
        agent,
        ...(await boardOf(agent).secrets.check(reference)),
      }),
    },
    "prompts/show": {
      isForViewers: true,
      takes: z.strictObject({ agent: NAME }),
      run: async ({ agent }) => ({ servers: savingsOf(boardOf(agent)) }),
    },
  };
}

function goneCall(): PlugboardError {
  return new PlugboardError("INVALID_ARGUMENTS", "nothing is kept of this call any more", {
    hint: "the last calls are kept while a page is open; the audit has all of them",
  });
}

/** Those that take the most; each takes a plan of its own. */
const MOST_SERVERS = 30;

interface Saving {
  server: string;
  tools: number;
  /** Roughly, in tokens. */
  saves: number;
}

/** The largest first. */
function savingsOf(board: Pick<Board, "tools" | "toolSearch" | "status">): Saving[] {
  const tools = board.tools();
  const { toolSearch } = board;
  const now = planPrompt(tools, { toolSearch }).after.tokens;
  const largest = board
    .status()
    .filter(({ promptTokens }) => promptTokens > 0)
    .toSorted((a, b) => b.promptTokens - a.promptTokens)
    .slice(0, MOST_SERVERS);
  return largest
    .map(({ name, tools: count }) => {
      const left = tools.filter(({ source }) => source.kind !== "mcp" || source.server !== name);
      const saves = Math.round(now - planPrompt(left, { toolSearch }).after.tokens);
      return { server: name, tools: count, saves };
    })
    .toSorted((a, b) => b.saves - a.saves);
}
