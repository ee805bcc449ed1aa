// What the page asks about tools.

import { z } from "zod";
import { definitionTokens } from "../../../../core/tools/definition-tokens.ts";
import { hintsIn, type ToolHints } from "../../../../core/types/approval.ts";
import type { Board } from "../../../../core/types/board.ts";
import type { ServerPins } from "../../../../core/types/pin.ts";
import type { SharedState } from "../../../../core/types/shared-state.ts";
import { canonicalName, type JudgedTool, type Tool } from "../../../../core/types/tool.ts";
import { oneLine } from "../../../../util/text.ts";
import { type PageRequests, type ToolDetails, type ToolFacts, TOOLS_A_PAGE } from "../wire.ts";
import { type Methods, NAME, WORDS } from "../method.ts";

const LONGEST_SUMMARY = 300;
const MOST_FOUND = 100;

export interface ToolMethodsOptions {
  /** The agents whose boards are open. */
  agents: () => readonly { id: string; board: Board }[];
  boardOf: (agent: string) => Board;
  pins: Pick<SharedState["pins"], "list">;
}

export function toolMethods({
  agents,
  boardOf,
  pins,
}: ToolMethodsOptions): Methods<"tools/list" | "tools/get"> {
  return {
    "tools/list": {
      isForViewers: true,
      takes: z.strictObject({
        agent: NAME.optional(),
        query: WORDS.optional(),
        from: z.int().min(0).optional(),
        server: NAME.optional(),
        verdict: z.enum(["allowed", "asks", "refused"]).optional(),
        effect: z.enum(["reads", "writes", "destroys"]).optional(),
      }),
      run: (wanted) => listTools(wanted, agents()),
    },
    "tools/get": {
      isForViewers: true,
      takes: z.strictObject({ agent: NAME, tool: NAME }),
      run: async ({ agent, tool }) => {
        const board = boardOf(agent);
        const found = await board.find(tool);
        const judged = board.judged().find((each) => each.tool.name === found.name);
        const details = toolDetails(agent, { tool: found, verdict: judged?.verdict ?? ALLOWED });
        const pinnedAt = approvedAt(found, await pins.list());
        return { ...details, ...(pinnedAt !== undefined && { pinnedAt }) };
      },
    },
  };
}

/** When the tool as it is now was first seen or approved. */
function approvedAt({ source }: Tool, all: readonly ServerPins[]): number | undefined {
  if (source.kind !== "mcp") return undefined;
  const own = all
    .filter(({ server }) => server === source.server)
    .map(({ tools }) => tools.get(source.tool));
  return own.find((pin) => pin?.kind === "pinned")?.approved.seen;
}

const ALLOWED = { kind: "allowed" } as const;

async function listTools(
  wanted: PageRequests["tools/list"]["takes"],
  agents: ReturnType<ToolMethodsOptions["agents"]>,
): Promise<PageRequests["tools/list"]["gives"]> {
  const { agent, query = "", from = 0 } = wanted;
  const chosen = agents.filter(({ id }) => agent === undefined || id === agent);
  const found = await Promise.all(
    chosen.map(async ({ id, board }) => {
      const judged = await searched(board, query);
      return judged.filter((each) => isWanted(each, wanted)).map((each) => ({ id, each }));
    }),
  );
  const all = found.flat();
  const page = all.slice(from, from + TOOLS_A_PAGE);
  return { total: all.length, tools: page.map(({ id, each }) => toolFacts(id, each)) };
}

/** Without a query, those that the rules refuse are there too. */
async function searched(board: Board, query: string): Promise<JudgedTool[]> {
  const judged = board.judged();
  if (query.trim() === "") return judged;
  const byName = new Map(judged.map((each) => [each.tool.name, each]));
  const found = await board.search(query, { limit: MOST_FOUND, all: true });
  return found.map(({ tool }) => byName.get(tool.name) ?? { tool, verdict: ALLOWED });
}

function isWanted(
  { tool, verdict }: JudgedTool,
  wanted: Pick<PageRequests["tools/list"]["takes"], "server" | "verdict" | "effect">,
): boolean {
  const { source, annotations } = tool;
  const server = source.kind === "mcp" ? source.server : "native";
  if (wanted.server !== undefined && wanted.server !== server) return false;
  if (wanted.verdict !== undefined && wanted.verdict !== verdict.kind) return false;
  return wanted.effect === undefined || effectOf(hintsIn(annotations)) === wanted.effect;
}

/** As the server says it; one that says nothing may destroy. */
function effectOf({ readOnly, destructive }: ToolHints): "reads" | "writes" | "destroys" {
  if (readOnly === true && destructive !== true) return "reads";
  return destructive === false ? "writes" : "destroys";
}

function toolFacts(agent: string, { tool, verdict }: JudgedTool): ToolFacts {
  const { name, title, description, ownDescription = description, annotations, source } = tool;
  return {
    agent,
    name,
    canonical: canonicalName(tool),
    ...(source.kind === "mcp" && { server: source.server, ownName: source.tool }),
    ...(title !== undefined && { title }),
    summary: oneLine(ownDescription, LONGEST_SUMMARY),
    tokens: Math.round(definitionTokens([tool])),
    hints: hintsIn(annotations),
    trusted: tool.trusted === true || source.kind === "native",
    ...(tool.include !== undefined && { include: tool.include }),
    ownerOnly: tool.ownerOnly === true,
    verdict,
  };
}

function toolDetails(agent: string, judged: JudgedTool): ToolDetails {
  const { tool } = judged;
  const { description, parameters, outputSchema } = tool;
  return {
    ...toolFacts(agent, judged),
    description,
    parameters,
    ...(outputSchema !== undefined && { outputSchema }),
  };
}
