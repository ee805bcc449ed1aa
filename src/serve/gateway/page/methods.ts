// What the page asks the gateway for, besides the stream of events: one table, with who may ask and what a request looks
// like.

import { z } from "zod";
import { changesOf, entriesIn, PinReview } from "../../../core/board/pins.ts";
import { definitionTokens } from "../../../core/tools/definition-tokens.ts";
import { hintsIn } from "../../../core/types/approval.ts";
import type { Board } from "../../../core/types/board.ts";
import { PlugboardError } from "../../../core/types/errors.ts";
import type { JsonObject } from "../../../core/types/json.ts";
import type { PinEntry } from "../../../core/types/pin.ts";
import type { PendingApproval, SharedState } from "../../../core/types/shared-state.ts";
import { canonicalName, type Tool } from "../../../core/types/tool.ts";
import { oneLine } from "../../../util/text.ts";
import { callFor } from "./live.ts";
import type { Visitor } from "./visitors.ts";
import type { WatchedCalls } from "./watched-calls.ts";
import {
  type PageRequests,
  type Role,
  type ToolDetails,
  type ToolFacts,
  TOOLS_A_PAGE,
} from "./wire.ts";

export interface PageMethodsOptions {
  state: Pick<SharedState, "pending" | "pins" | "limits">;
  /** The agents whose boards are open. */
  agents: () => readonly { id: string; board: Board }[];
  calls: Pick<WatchedCalls, "show">;
}

interface Method<Name extends keyof PageRequests> {
  /** Whether viewers may ask for it too. */
  isForViewers?: boolean;
  takes: z.ZodType<PageRequests[Name]["takes"]>;
  run(input: PageRequests[Name]["takes"], role: Role): Promise<PageRequests[Name]["gives"]>;
}

type Methods = { readonly [Name in keyof PageRequests]: Method<Name> };

/** Of one viewer, in a minute. */
const VIEWER_REQUESTS = 240;
const LONGEST_NAME = 500;
const LONGEST_SUMMARY = 300;
const MOST_FOUND = 100;
const LONGEST_TOOL = 2000;
const NAME = z.string().min(1).max(LONGEST_NAME);

const PIN = z.strictObject({
  server: NAME,
  key: NAME,
  tool: z.string().max(LONGEST_TOOL).optional(),
  hash: NAME,
});

export class PageMethods {
  readonly #options: PageMethodsOptions;
  readonly #methods: Methods;

  constructor(options: PageMethodsOptions) {
    this.#options = options;
    this.#methods = {
      "tools/list": {
        isForViewers: true,
        takes: z.strictObject({
          agent: NAME.optional(),
          query: z.string().max(LONGEST_NAME).optional(),
          from: z.int().min(0).optional(),
        }),
        run: (wanted) => this.#listTools(wanted),
      },
      "tools/get": {
        isForViewers: true,
        takes: z.strictObject({ agent: NAME, tool: NAME }),
        run: async ({ agent, tool }) => toolDetails(agent, await this.boardOf(agent).find(tool)),
      },
      "approvals/show": {
        takes: z.strictObject({ id: NAME }),
        run: async ({ id }) => ({ args: (await this.#question(id)).request.args }),
      },
      "approvals/answer": {
        takes: z.strictObject({ id: NAME, answer: z.enum(["once", "always", "refuse"]) }),
        run: ({ id, answer }) => this.#answer(id, answer),
      },
      "pins/show": {
        isForViewers: true,
        takes: PIN,
        run: async (pin) => {
          const { changes, isCut } = changesOf(await this.#pin(pin));
          return { parts: changes, isCut };
        },
      },
      "pins/approve": {
        takes: PIN,
        run: async (pin) => {
          const review = new PinReview(this.#options.state.pins);
          if (await review.approve(await this.#pin(pin))) return {};
          throw changedAgain();
        },
      },
      "calls/show": {
        isForViewers: true,
        takes: z.strictObject({ id: NAME }),
        run: async ({ id }, role) => {
          const call = this.#options.calls.show(id);
          if (call === undefined) throw goneCall();
          const { facts, steps } = call;
          return role === "owner" ? call : { facts: callFor(role, facts), steps };
        },
      },
      "servers/restart": {
        takes: z.strictObject({ agent: NAME, server: NAME }),
        run: async ({ agent, server }) => {
          const { state } = await this.boardOf(agent).restart(server);
          return { state: state.kind };
        },
      },
    };
  }

  /** Rejects with a PlugboardError. */
  async run(name: string, body: JsonObject, { role, nonce }: Visitor): Promise<object> {
    if (!Object.hasOwn(this.#methods, name)) {
      throw new PlugboardError("UNSUPPORTED", `the gateway cannot do '${oneLine(name, 100)}'`);
    }
    const method = this.#methods[name as keyof Methods] as Method<keyof PageRequests>;
    if (role !== "owner" && method.isForViewers !== true) throw notForViewers();
    if (role !== "owner") await this.#count(nonce);
    return method.run(checked(method.takes, body), role);
  }

  /** A search costs more than it shows, and viewers have nothing to do in a hurry. */
  async #count(nonce: string): Promise<void> {
    const bucket = { key: `page ${nonce}`, perMinute: VIEWER_REQUESTS };
    const delay = await this.#options.state.limits.take([bucket], 0);
    if (delay?.isRefused)
      throw new PlugboardError("RATE_LIMITED", "too many requests; wait a moment");
  }

  /** Throws INVALID_ARGUMENTS for an agent that nobody has asked for yet. */
  boardOf(id: string): Board {
    const found = this.#options.agents().find((agent) => agent.id === id);
    if (found !== undefined) return found.board;
    const message = `the agent '${oneLine(id, 100)}' is not configured, or nobody has used it yet`;
    throw new PlugboardError("INVALID_ARGUMENTS", message);
  }

  async #listTools({ agent, query = "", from = 0 }: PageRequests["tools/list"]["takes"]): Promise<{
    total: number;
    tools: ToolFacts[];
  }> {
    const chosen = this.#options.agents().filter(({ id }) => agent === undefined || id === agent);
    const found = await Promise.all(
      chosen.map(async ({ id, board }) => {
        const tools =
          query.trim() === ""
            ? board.tools({ all: true })
            : (await board.search(query, { limit: MOST_FOUND, all: true })).map(({ tool }) => tool);
        return tools.map((tool) => ({ id, tool }));
      }),
    );
    const all = found.flat();
    const page = all.slice(from, from + TOOLS_A_PAGE);
    return { total: all.length, tools: page.map(({ id, tool }) => toolFacts(id, tool)) };
  }

  /** Rejects if it is no longer as the page has shown it. */
  async #pin({ server, key, tool, hash }: PageRequests["pins/show"]["takes"]): Promise<PinEntry> {
    const all = await this.#options.state.pins.list();
    const entries = all
      .filter((pins) => pins.server === server && pins.key === key)
      .flatMap(entriesIn);
    const found = entries.find((entry) =>
      tool === undefined
        ? entry.kind === "instructions"
        : entry.kind === "tool" && entry.tool === tool,
    );
    if (found !== undefined && found.pin.kind !== "pinned" && found.pin.pending.hash === hash)
      return found;
    throw changedAgain();
  }

  async #answer(id: string, answer: "once" | "always" | "refuse"): Promise<object> {
    const question = await this.#question(id);
    if (await this.#options.state.pending.answer(question, answer)) return {};
    throw notWaiting();
  }

  async #question(id: string): Promise<PendingApproval> {
    const all = await this.#options.state.pending.list();
    const question = all.find((each) => each.id === id);
    if (question === undefined) throw notWaiting();
    return question;
  }
}

function notWaiting(): PlugboardError {
  return new PlugboardError("INVALID_ARGUMENTS", "this call no longer waits", {
    hint: "it was answered elsewhere, its time was over, or its caller has gone",
  });
}

function goneCall(): PlugboardError {
  return new PlugboardError("INVALID_ARGUMENTS", "nothing is kept of this call any more", {
    hint: "the last calls are kept while a page is open; the audit has all of them",
  });
}

function changedAgain(): PlugboardError {
  return new PlugboardError("INVALID_ARGUMENTS", "this definition is no longer as it was shown", {
    hint: "it was approved elsewhere, or has changed again: look at it again",
  });
}

export function notForViewers(): PlugboardError {
  return new PlugboardError("REFUSED_BY_POLICY", "a viewer changes nothing", {
    hint: "sign in as the owner: plugboard ui",
  });
}

/** Throws INVALID_ARGUMENTS. */
export function checked<Input>(shape: z.ZodType<Input>, body: JsonObject): Input {
  const read = shape.safeParse(body);
  if (read.success) return read.data;
  throw new PlugboardError("INVALID_ARGUMENTS", "the request is not as expected", {
    hint: oneLine(z.prettifyError(read.error), LONGEST_NAME),
  });
}

function toolFacts(agent: string, tool: Tool): ToolFacts {
  const { name, title, description, ownDescription = description, annotations, source } = tool;
  return {
    agent,
    name,
    canonical: canonicalName(tool),
    ...(source.kind === "mcp" && { server: source.server }),
    ...(title !== undefined && { title }),
    summary: oneLine(ownDescription, LONGEST_SUMMARY),
    tokens: Math.round(definitionTokens([tool])),
    hints: hintsIn(annotations),
    trusted: tool.trusted === true || source.kind === "native",
    ...(tool.include !== undefined && { include: tool.include }),
    ownerOnly: tool.ownerOnly === true,
  };
}

function toolDetails(agent: string, tool: Tool): ToolDetails {
  const { description, parameters, outputSchema } = tool;
  return {
    ...toolFacts(agent, tool),
    description,
    parameters,
    ...(outputSchema !== undefined && { outputSchema }),
  };
}
