// `tools/list` and `tools/call`: the board's tools as their servers describe them, and calls straight to the board.

import type { BoardCallOptions } from "../../model/board.ts";
import { approvalsOf } from "../../model/caller.ts";
import { isJsonObject, type JsonObject } from "../../model/json.ts";
import type { CallOutcome, Tool } from "../../model/tool.ts";
import { type Exchange, showsApps } from "../client.ts";
import type { EndpointContext } from "../context.ts";
import { type Answer, invalidParams, refuse, RPC } from "../message.ts";
import { servedAppUri } from "../names.ts";
import { pageOf } from "../pages.ts";
import { reportProgress } from "../progress.ts";
import { approvalFrom, askable, askClient, asker, handlersOf } from "../questions/ask-client.ts";
import { HeldCall, type Next } from "../questions/held-calls.ts";
import {
  askedByServer,
  boundTo,
  INVALID_STATE,
  openState,
  sealState,
} from "../questions/request-state.ts";

interface ToolLists {
  all: JsonObject[];
  /** Without those that only an app may call. */
  forModels: JsonObject[];
  schemas: ReadonlyMap<string, JsonObject>;
}

/** The tools as clients list them, made once per change. */
export class ServedTools {
  readonly #context: Pick<EndpointContext, "board" | "namesServer">;
  #lists: ToolLists | undefined;
  #revision = 0;

  constructor(context: Pick<EndpointContext, "board" | "namesServer">) {
    this.#context = context;
    context.board.on("tools", () => {
      this.#lists = undefined;
      this.#revision += 1;
    });
  }

  inputSchema(name: string): JsonObject | undefined {
    this.#lists ??= this.#make();
    return this.#lists.schemas.get(name);
  }

  list({ request, capabilities }: Exchange): Answer {
    this.#lists ??= this.#make();
    const { all, forModels } = this.#lists;
    const tools = showsApps(capabilities) ? all : forModels;
    const page = pageOf(tools, request.params["cursor"], this.#revision);
    if (page === undefined) return invalidParams("the cursor is not valid; list from the start");
    const { items, nextCursor } = page;
    return { result: { tools: items, ...(nextCursor !== undefined && { nextCursor }) } };
  }

  #make(): ToolLists {
    const { board, namesServer } = this.#context;
    const listed = board.tools({ all: true }).filter(({ include }) => include !== "manual");
    const toItem = (tool: Tool): JsonObject => toDefinition(tool, namesServer());
    return {
      all: listed.map(toItem),
      forModels: listed.filter(({ include }) => include === undefined).map(toItem),
      schemas: new Map(listed.map(({ name, parameters }) => [name, parameters])),
    };
  }
}

function toDefinition(tool: Tool, namesServer: boolean): JsonObject {
  const { name, title, parameters, outputSchema, annotations, execution, icons } = tool;
  const server = tool.source.kind === "mcp" ? tool.source.server : undefined;
  return {
    name,
    ...(title !== undefined && { title }),
    ...describe(tool, namesServer),
    inputSchema: parameters,
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations !== undefined && { annotations }),
    ...(execution !== undefined && { execution }),
    ...(icons !== undefined && { icons }),
    ...(tool._meta !== undefined && {
      _meta: server === undefined ? tool._meta : withServedApp(server, tool._meta),
    }),
  };
}

/** Where there is only one server, a tool says what its server says, and nothing else. */
function describe({ description, source }: Tool, namesServer: boolean): { description?: string } {
  if (namesServer || source.kind !== "mcp") return { description };
  const prefix = `[${source.server}] `;
  const own = description.startsWith(prefix) ? description.slice(prefix.length) : description;
  return own === "No description" ? {} : { description: own };
}

/** The URI of a tool's app, in both places where servers write it. */
function withServedApp(server: string, meta: JsonObject): JsonObject {
  const { ui } = meta;
  const flat = meta["ui/resourceUri"];
  return {
    ...meta,
    ...(isJsonObject(ui) &&
      typeof ui["resourceUri"] === "string" && {
        ui: { ...ui, resourceUri: servedAppUri(server, ui["resourceUri"]) },
      }),
    ...(typeof flat === "string" && { "ui/resourceUri": servedAppUri(server, flat) }),
  };
}

export function callTool(exchange: Exchange, context: EndpointContext): Answer | Promise<Answer> {
  const { params } = exchange.request;
  const { name, arguments: args = {} } = params;
  if (typeof name !== "string") return invalidParams("name is not a text");
  if (!isJsonObject(args)) return invalidParams("arguments is not an object");
  const progress = reportProgress(exchange, context.clock);
  const options: BoardCallOptions = {
    callId: exchange.callId,
    caller: exchange.client.caller.label,
    approvalsOf: approvalsOf(exchange.client.caller),
    onUpdate: progress?.onUpdate,
    meta: passedOn(params["_meta"]),
  };
  const answer =
    exchange.client.era === "legacy"
      ? callForLegacy(exchange, context, { name, args, options, waiting: progress?.waiting })
      : callForModern(exchange, context, { name, args, options, waiting: progress?.waiting });
  return progress === undefined ? answer : answer.finally(progress.stop);
}

interface Call {
  name: string;
  args: JsonObject;
  options: BoardCallOptions;
  /** Tells the client what the call waits for. */
  waiting: ((message: string) => void) | undefined;
}

async function callForLegacy(
  exchange: Exchange,
  context: EndpointContext,
  { name, args, options, waiting }: Call,
): Promise<Answer> {
  const { client, signal } = exchange;
  const outcome = await context.board.call(name, args, {
    ...options,
    ...handlersOf(client, context),
    onApproval: approvalFrom(
      { client, capabilities: askable(client), ask: asker(client), waiting },
      context,
    ),
    signal,
  });
  return toAnswer(outcome, exchange);
}

async function callForModern(
  exchange: Exchange,
  context: EndpointContext,
  call: Call,
): Promise<Answer> {
  const { client, request, capabilities, signal } = exchange;
  const { inputResponses, requestState } = request.params;
  if (inputResponses !== undefined && !isJsonObject(inputResponses)) {
    return invalidParams("inputResponses is not an object");
  }
  const bound = boundTo(exchange, call.name, call.args);
  const state = openState(requestState, bound, context);
  if (state === "invalid") return invalidParams(INVALID_STATE);
  let held: HeldCall;
  if (state?.held !== undefined) {
    const waiting = context.held.take(state.held, client.caller.id);
    if (waiting === undefined) return toAnswer(lostCall(call.name), exchange);
    waiting.respond(inputResponses ?? {});
    held = waiting;
  } else {
    const upstream = state?.upstream;
    held = new HeldCall(async (ask, until) => {
      const outcome = await context.board.call(call.name, call.args, {
        ...call.options,
        ...askClient({ capabilities, ask, namesServer: context.namesServer }),
        onApproval: approvalFrom({ client, capabilities, ask, waiting: call.waiting }, context),
        clientCapabilities: capabilities,
        input:
          inputResponses === undefined && upstream === undefined
            ? "return"
            : { responses: inputResponses ?? {}, requestState: upstream },
        signal: until,
      });
      return outcome.inputRequired === undefined
        ? toAnswer(outcome, exchange)
        : { result: askedByServer(outcome.inputRequired, bound, context) };
    });
  }
  return settle(await held.next(signal), held, bound, context);
}

/** What the client gets: the result, or the questions of a call that is held meanwhile. */
function settle(
  next: Next,
  held: HeldCall,
  bound: ReturnType<typeof boundTo>,
  context: EndpointContext,
): Answer {
  if (next.kind === "ended") return next.answer;
  const id = context.held.hold(held, bound.caller);
  if (id === undefined) {
    held.cancel();
    return refuse(
      RPC.internalError,
      "too many calls wait for answers; answer or cancel some of them first",
    );
  }
  const requestState = sealState({ held: id }, bound, context);
  return { result: { resultType: "input_required", inputRequests: next.requests, requestState } };
}

function lostCall(name: string): CallOutcome {
  const text =
    `The call of ${name} waited here for an answer and is lost, because the gateway was restarted or the answer came too late. ` +
    "The tool may have run. Check before you call it again.";
  return { content: [{ type: "text", text }], isError: true };
}

/** Only W3C trace context goes on to the server; the rest of `_meta` is between the client and us. */
function passedOn(meta: unknown): JsonObject | undefined {
  if (!isJsonObject(meta)) return undefined;
  let passed: JsonObject | undefined;
  for (const key of ["traceparent", "tracestate", "baggage"]) {
    if (typeof meta[key] === "string") (passed ??= {})[key] = meta[key];
  }
  return passed;
}

function toAnswer(outcome: CallOutcome, { client }: Pick<Exchange, "client">): Answer {
  const { content, structuredContent, isError, _meta, failure } = outcome;
  if (failure?.code === "UNKNOWN_TOOL") return refuse(RPC.invalidParams, failure.message);
  const { serverError } = failure ?? {};
  // Only the client can do something about it.
  if (client.era === "modern" && serverError?.code === RPC.missingCapability) {
    return refuse(serverError.code, failure?.message ?? "", serverError.data);
  }
  return {
    result: {
      content,
      ...(structuredContent !== undefined && { structuredContent }),
      ...(isError === true && { isError }),
      ...(_meta !== undefined && { _meta }),
    },
  };
}
