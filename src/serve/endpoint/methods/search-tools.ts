// `tools/list` and `tools/call` for clients that put every tool they are told of into a prompt: four tools stand for all
// tools of the board. What they call goes the way of any other call, under the tool's own name.

import { summary } from "../../../core/board/prompt-plan.ts";
import { THEIR_WORDS } from "../../../core/board/prompt-tools.ts";
import {
  listServers,
  noQueries,
  NOTHING_FOUND,
  QUERIES,
  readCalledArguments,
  readLimit,
  readTexts,
} from "../../../core/board/search-request.ts";
import {
  invalidRequest,
  PlugboardError,
  toPlugboardError,
  withHint,
} from "../../../core/types/errors.ts";
import { isForModels } from "../../../core/types/include.ts";
import { isJsonObject, type JsonObject, objectIn } from "../../../core/types/json.ts";
import type { Tool } from "../../../core/types/tool.ts";
import { oneLine, plural } from "../../../util/text.ts";
import { abortSignalOf } from "../../../util/abort.ts";
import type { Exchange } from "../client.ts";
import type { EndpointContext } from "../context.ts";
import type { Answer } from "../message.ts";
import { callTool, type ServedTools } from "./tools.ts";

const DEFAULT_LIMIT = 10;
const MOST_HITS = 50;
const LONGEST_LINE = 200;

const CALL = {
  type: "object",
  properties: {
    name: { type: "string", description: "The name of the tool, as search_tools has it" },
    arguments: { type: "object", description: "Its arguments, as describe_tool says" },
  },
  required: ["name"],
} as const;

const DEFINITIONS = [
  {
    name: "search_tools",
    title: "Search tools",
    description:
      "Finds tools by what they do. You do not see all tools that there are, so search before you say that something " +
      "cannot be done. Ask one short question for each step of the task.",
    inputSchema: {
      type: "object",
      properties: {
        queries: QUERIES,
        limit: {
          type: "integer",
          minimum: 1,
          maximum: MOST_HITS,
          description: `How many tools, by default ${DEFAULT_LIMIT}`,
        },
      },
      required: ["queries"],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  {
    name: "describe_tool",
    title: "Describe a tool",
    description: "Shows what a tool does and takes, with the schema of its arguments.",
    inputSchema: {
      type: "object",
      properties: { name: CALL.properties.name },
      required: ["name"],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  {
    name: "call_tool",
    title: "Call a tool that only reads",
    description:
      "Calls a tool that changes nothing. It refuses any other; call_changing_tool is for those.",
    inputSchema: CALL,
    annotations: { readOnlyHint: true },
  },
  {
    name: "call_changing_tool",
    title: "Call a tool that may change something",
    description: "Calls a tool that may change or delete something.",
    inputSchema: CALL,
    annotations: { readOnlyHint: false, destructiveHint: true },
  },
] as const;

type Name = (typeof DEFINITIONS)[number]["name"];

const NAMES: ReadonlySet<unknown> = new Set(DEFINITIONS.map(({ name }) => name));

/** For a client that begins: which servers the tools are of. */
export function aboutSearch({ board }: Pick<EndpointContext, "board">): string {
  const servers = listServers(board.status().map(({ name }) => name));
  return `The tools of these MCP servers are found with search_tools: ${servers}. describe_tool shows what one takes, call_tool and call_changing_tool call it.`;
}

export class SearchedTools {
  readonly #context: EndpointContext;
  readonly #tools: ServedTools;
  readonly #settled: () => Promise<void> | undefined;

  /** `settled` waits for servers that are starting, as a list of tools would. */
  constructor(
    context: EndpointContext,
    tools: ServedTools,
    settled: () => Promise<void> | undefined,
  ) {
    this.#context = context;
    this.#tools = tools;
    this.#settled = settled;
  }

  list(): Answer {
    return { result: { tools: DEFINITIONS } };
  }

  /** Undefined for a call of any other tool: a client that knows its name may call it. */
  answer(exchange: Exchange): Promise<Answer> | undefined {
    const { name, arguments: args = {} } = exchange.request.params;
    if (!NAMES.has(name)) return undefined;
    return this.#answer(name as Name, objectIn(args), exchange).catch((error: unknown) =>
      failed(error),
    );
  }

  /** The tool that a call is about, for whoever watches calls. */
  calledName({ name, arguments: args }: JsonObject): unknown {
    return NAMES.has(name) && isJsonObject(args) ? args["name"] : name;
  }

  async #answer(name: Name, args: JsonObject, exchange: Exchange): Promise<Answer> {
    await this.#settled();
    if (name === "search_tools") return text(await this.#search(args));
    const tool = await this.#find(args["name"], abortSignalOf(exchange.signal));
    if (name === "describe_tool") return text(this.#describe(this.#listed(tool, args["name"])));
    if (name === "call_tool" && !isReading(tool)) {
      const message = `${tool.name} may change something, so it was not called; use call_changing_tool`;
      throw new PlugboardError("REFUSED_BY_POLICY", message, { hasNotRun: true });
    }
    const given = readCalledArguments(args["arguments"]);
    return callTool(exchange, this.#context, { name: tool.name, arguments: given });
  }

  async #search({ queries: asked, limit = DEFAULT_LIMIT }: JsonObject): Promise<string> {
    const queries = readTexts(asked) ?? [];
    if (queries.length === 0) throw noQueries();
    const most = readLimit(limit, MOST_HITS);
    const { board } = this.#context;
    const hidden = board.tools({ all: true }).filter((tool) => !isForModels(tool)).length;
    const hits = await board.search(queries, { limit: most + hidden, all: true });
    const found = hits.filter(({ tool }) => isForModels(tool)).slice(0, most);
    if (found.length === 0) return NOTHING_FOUND;
    const lines = found.map(({ tool, doubleOf }) => {
      const copies = doubleOf === undefined ? "" : `; copies ${doubleOf}, so prefer that one`;
      return `${tool.name} (${callerOf(tool)}${copies}): ${oneLine(summary(tool), LONGEST_LINE)}`;
    });
    return [
      `Found ${plural(found.length, "tool")}, each with the tool that calls it. ${THEIR_WORDS}`,
      ...lines,
    ].join("\n");
  }

  #describe(tool: Tool): string {
    const { name, title, description, inputSchema, outputSchema, annotations } =
      this.#tools.definitionOf(tool);
    const definition = { name, title, description, inputSchema, outputSchema, annotations };
    return `${JSON.stringify(definition)}\nCall it with ${callerOf(tool)}.`;
  }

  /** Rejects with UNKNOWN_TOOL, also for a tool that no model may get. */
  async #find(name: unknown, signal: AbortSignal): Promise<Tool> {
    if (typeof name !== "string") throw invalidRequest("name must be the name of a tool");
    const { board } = this.#context;
    const tool = await board.find(name, { signal });
    // One that the rules hide is found too: its call is refused, and audited.
    if (isForModels(tool)) return tool;
    throw unknownTool(name);
  }

  /**
   * The tool, if the board lists it. What the rules deny is not shown, and neither is a definition that the pins keep back:
   * it may be one that was changed to mislead a model.
   */
  #listed(tool: Tool, asked: unknown): Tool {
    const isListed = this.#context.board
      .tools({ all: true })
      .some(({ name }) => name === tool.name);
    if (isListed) return tool;
    throw unknownTool(asked);
  }
}

function unknownTool(name: unknown): PlugboardError {
  const message = `there is no tool named '${oneLine(String(name), 200)}'`;
  return new PlugboardError("UNKNOWN_TOOL", message, { hint: "search_tools finds tools" });
}

/** Only a trusted server is believed. A native tool is the host's own. */
function isReading({ annotations, trusted, source }: Tool): boolean {
  return annotations?.["readOnlyHint"] === true && (trusted === true || source.kind === "native");
}

function callerOf(tool: Tool): Name {
  return isReading(tool) ? "call_tool" : "call_changing_tool";
}

function text(value: string): Answer {
  return { result: { content: [{ type: "text", text: value }] } };
}

/** For the model, which can do something about it. */
function failed(error: unknown): Answer {
  const message = withHint(toPlugboardError(error, "PROTOCOL"));
  return { result: { content: [{ type: "text", text: message }], isError: true } };
}
