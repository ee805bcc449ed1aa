// The calls that wait for somebody's approval: what each is, and the answer.

import { z } from "zod";
import { PlugboardError } from "../../../../core/types/errors.ts";
import type { PendingApproval, SharedState } from "../../../../core/types/shared-state.ts";
import { callerLabels } from "../../access/caller-label.ts";
import type { Decisions } from "../decisions.ts";
import { LONGEST_TOOL, type Methods, NAME, NOTHING } from "../method.ts";

const WORDS = { once: "allow one call", always: "always allow", refuse: "refuse one call" };

const LONGEST_REASON = 1000;

export function approvalMethods(
  { pending, approvals, tokens }: Pick<SharedState, "pending" | "approvals" | "tokens">,
  decisions: Pick<Decisions, "record">,
): Methods<"approvals/show" | "approvals/answer" | "approvals/lasting" | "approvals/forget"> {
  const question = async (id: string): Promise<PendingApproval> => {
    const found = (await pending.list()).find((each) => each.id === id);
    if (found === undefined) throw notWaiting();
    return found;
  };
  return {
    "approvals/show": {
      takes: z.strictObject({ id: NAME }),
      run: async ({ id }) => ({ args: (await question(id)).request.args }),
    },
    "approvals/answer": {
      takes: z.strictObject({
        id: NAME,
        answer: z.enum(["once", "always", "refuse"]),
        reason: z.string().max(LONGEST_REASON).optional(),
      }),
      run: async ({ id, answer, reason }, visitor) => {
        const asked = await question(id);
        const given = answer === "refuse" && reason !== undefined ? { refuse: reason } : answer;
        if (!(await pending.answer(asked, given))) throw notWaiting();
        const { agent, request } = asked;
        const { server, tool } = request;
        const named = server === undefined ? { tool } : ofServer(server, tool);
        await decisions.record(visitor, { decided: WORDS[answer], agent, ...named });
        return {};
      },
    },
    "approvals/lasting": {
      isForViewers: true,
      takes: NOTHING,
      run: async (_, { role }) => {
        const all = await approvals.list();
        const labelOf = all.some(({ caller }) => caller !== undefined)
          ? await callerLabels(tokens)
          : undefined;
        return {
          approvals: all.map(({ config, ...approval }) => ({
            ...approval,
            ...(config !== undefined && role === "owner" && { config }),
            ...(approval.caller !== undefined && { label: labelOf?.(approval.caller) }),
          })),
        };
      },
    },
    "approvals/forget": {
      takes: z.strictObject({
        agent: NAME,
        config: z.string().optional(),
        tool: z.string().max(LONGEST_TOOL),
        hash: NAME,
        caller: NAME.optional(),
        at: z.number(),
      }),
      run: async (approval, visitor) => {
        await approvals.forget([approval]);
        const { agent, tool } = approval;
        await decisions.record(visitor, { decided: "ask again", agent, tool });
        return {};
      },
    },
  };
}

/** `docs/search` is the tool `search` of `docs`. */
function ofServer(server: string, tool: string): { server: string; tool: string } {
  const start = `${server}/`;
  return { server, tool: tool.startsWith(start) ? tool.slice(start.length) : tool };
}

function notWaiting(): PlugboardError {
  return new PlugboardError("INVALID_ARGUMENTS", "this call no longer waits", {
    hint: "it was answered elsewhere, its time was over, or its caller has gone",
  });
}
