// What the page asks about tools.

import { z } from "zod";
import { definitionTokens } from "../../../../core/tools/definition-tokens.ts";
import { hintsIn } from "../../../../core/types/approval.ts";
import type { Board } from "../../../../core/types/board.ts";
import { canonicalName, type Tool } from "../../../../core/types/tool.ts";
import { oneLine } from "../../../../util/text.ts";
import { type PageRequests, type ToolDetails, type ToolFacts, TOOLS_A_PAGE } from "../wire.ts";
import { type Methods, NAME, WORDS } from "../method.ts";

const LONGEST_SUMMARY = 300;
const MOST_FOUND = 100;

export interface ToolMethodsOptions {
  /** The agents whose boards are open. */
  agents: () => readonly { id: string; board: Board }[];
  boardOf: (agent: string) => Board;
}

export function toolMethods({
  agents,
  boardOf,
}: ToolMethodsOptions): Methods<"tools/list" | "tools/get"> {
  return {
    "tools/list": {
      isForViewers: true,
      takes: z.strictObject({
        agent: NAME.optional(),
        server: NAME.optional(),
        query: WORDS.optional(),
        from: z.int().min(0).optional(),
      }),
      run: (wanted) => listTools(wanted, agents()),
    },
    "tools/get": {
      isForViewers: true,
      takes: z.strictObject({ agent: NAME, tool: NAME }),
      run: async ({ agent, tool }) => toolDetails(agent, await boardOf(agent).find(tool)),
    },
  };
}

async function listTools(
  { agent, server, query = "", from = 0 }: PageRequests["tools/list"]["takes"],
  agents: ReturnType<ToolMethodsOptions["agents"]>,
): Promise<PageRequests["tools/list"]["gives"]> {
  const chosen = agents.filter(({ id }) => agent === undefined || id === agent);
  const found = await Promise.all(
    chosen.map(async ({ id, board }) => {
      const tools =
        query.trim() === ""
          ? board.tools({ all: true })
          : (await board.search(query, { limit: MOST_FOUND, all: true })).map(({ tool }) => tool);
      const isWanted = ({ source }: Tool): boolean =>
        server === undefined || (source.kind === "mcp" && source.server === server);
      return tools.filter(isWanted).map((tool) => ({ id, tool }));
    }),
  );
  const all = found.flat();
  const page = all.slice(from, from + TOOLS_A_PAGE);
  return { total: all.length, tools: page.map(({ id, tool }) => toolFacts(id, tool)) };
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
