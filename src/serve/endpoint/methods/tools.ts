// `tools/list` and `tools/call`: the board's tools as their servers describe them, and calls straight to the board.

import type { BoardCallOptions } from "../../../core/types/board.ts";
import { personOf } from "../../../core/types/caller.ts";
import { isForModels } from "../../../core/types/include.ts";
import { isJsonObject, type JsonObject } from "../../../core/types/json.ts";
import { type CallOutcome, canonicalName, needsTask, type Tool } from "../../../core/types/tool.ts";
import { abortSignalOf, type LightSignal } from "../../../util/abort.ts";
import { type Exchange, showsApps } from "../client.ts";
import type { EndpointBoard, EndpointContext } from "../context.ts";
import { counted } from "../counted.ts";
import { type Answer, invalidParams, refuse, RPC } from "../message.ts";
import { servedAppUri } from "../names.ts";
import { pageOf } from "../pages.ts";
import { reportProgress } from "../progress.ts";
import {
  approvalElsewhere,
  approvalFrom,
  asker,
  handlersOf,
  CANNOT_ASK,
  takesQuestions,
} from "../questions/ask-client.ts";
import { HeldCall, type Next } from "../questions/held-calls.ts";
import {
  askedByServer,
  type Bound,
  boundTo,
  inputOf,
  readBroughtBack,
  sealState,
} from "../questions/request-state.ts";

interface ToolLists {
  all: JsonObject[];
  /** All tools but the ones that only an app may call. */
  forModels: JsonObject[];
  byName: ReadonlyMap<string, Tool>;
  /** Every name of a tool that only an app may call. */
  onlyForApps: ReadonlySet<string>;
}

type ToolsContext = Pick<EndpointContext, "board" | "namesServer" | "keepsApps" | "newId">;

/** The tools as clients list them, made once per change. */
export class ServedTools {
  readonly #context: ToolsContext;
  /** Part of every cursor, so that cursors of an earlier process are invalid. */
  readonly #epoch: string;
  #lists: ToolLists | undefined;
  #revision = 0;

  constructor(context: ToolsContext) {
    this.#context = context;
    this.#epoch = context.newId();
    const changed = (): void => {
      this.#lists = undefined;
      this.#revision += 1;
    };
    context.board.on("tools", changed);
    context.board.on("appTools", changed);
  }

  inputSchema(name: string): JsonObject | undefined {
    return this.#current().byName.get(name)?.parameters;
  }

  serverOf(name: unknown): string | undefined {
    const source = typeof name === "string" ? this.#current().byName.get(name)?.source : undefined;
    return source?.kind === "mcp" ? source.server : undefined;
  }

  list({ request, capabilities }: Exchange): Answer {
    const { all, forModels } = this.#current();
    const [tools, kind] = showsApps(capabilities) ? [all, "all"] : [forModels, "models"];
    const list = `tools ${kind} ${this.#revision} ${this.#epoch}`;
    const page = pageOf(tools, request.params["cursor"], list);
    if (page === undefined) return invalidParams("the cursor is not valid; list from the start");
    const { items, nextCursor } = page;
    return { result: { tools: items, nextCursor } };
  }

  definitionOf(tool: Tool): JsonObject {
    const { namesServer, keepsApps } = this.#context;
    return toDefinition(tool, namesServer(), keepsApps?.() ?? false);
  }

  /** Refuses a tool that only apps may call, if the client shows no apps. Undefined for any other call. */
  refusal({ request, capabilities }: Exchange): Answer | undefined {
    const { name } = request.params;
    const { onlyForApps } = this.#current();
    if (typeof name !== "string" || !onlyForApps.has(name) || showsApps(capabilities)) {
      return undefined;
    }
    const message = `there is no tool named '${name}'`;
    return refuse(RPC.invalidParams, message, { code: "UNKNOWN_TOOL" });
  }

  #current(): ToolLists {
    this.#lists ??= this.#make();
    return this.#lists;
  }

  #make(): ToolLists {
    const { board, namesServer } = this.#context;
    const keepsApps = this.#context.keepsApps?.() ?? false;
    const isNamed = namesServer();
    // No client can run a tool as a task here.
    const listed = board
      .tools({ all: true })
      .filter((tool) => tool.include !== "manual" && !needsTask(tool));
    const toItem = (tool: Tool): JsonObject => toDefinition(tool, isNamed, keepsApps);
    const forApps = listed.filter(({ include }) => include === "app");
    return {
      all: listed.map(toItem),
      forModels: listed.filter(isForModels).map(toItem),
      byName: new Map(listed.map((tool) => [tool.name, tool])),
      onlyForApps: new Set(forApps.flatMap((tool) => [tool.name, canonicalName(tool)])),
    };
  }
}

function toDefinition(tool: Tool, namesServer: boolean, keepsApps: boolean): JsonObject {
  const { name, parameters, outputSchema, annotations, execution, icons, isFramed } = tool;
  const { _meta, source } = tool;
  return {
    name,
    ...titleOf(tool),
    ...describe(tool, namesServer),
    inputSchema: parameters,
    // A framed result has no structured content that could fit it.
    ...(outputSchema !== undefined && !isFramed && { outputSchema }),
    annotations,
    execution,
    icons,
    ...(_meta !== undefined && {
      _meta: source.kind === "native" || keepsApps ? _meta : withServedApp(source.server, _meta),
    }),
  };
}

/** The label of a native tool is its title; of any other it says where the tool is from. */
function titleOf({ name, title, label, source }: Tool): { title?: string } {
  if (source.kind === "mcp") return title === undefined ? {} : { title };
  return label === name ? {} : { title: label };
}

/** Where there is only one server, a tool says what its server says, and nothing else. */
function describe(tool: Tool, namesServer: boolean): { description?: string } {
  const { description, ownDescription, source } = tool;
  if (namesServer || source.kind === "native") return { description };
  return ownDescription === undefined ? {} : { description: ownDescription };
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

/** `called` is the call itself, if the request makes it through another tool. */
export function callTool(
  exchange: Exchange,
  context: EndpointContext,
  called: JsonObject = exchange.request.params,
): Answer | Promise<Answer> {
  const { name, arguments: args = {} } = called;
  if (typeof name !== "string") return invalidParams("name is not a text");
  if (!isJsonObject(args)) return invalidParams("arguments is not an object");
  const make = (): Answer | Promise<Answer> => makeCall(exchange, context, name, args);
  return context.countCall === undefined
    ? make()
    : counted(exchange, context.countCall, make, (text) => {
        exchange.failure = { code: "RATE_LIMITED", message: text };
        return { result: { content: [{ type: "text", text }], isError: true } };
      });
}

function makeCall(
  exchange: Exchange,
  context: EndpointContext,
  name: string,
  args: JsonObject,
): Promise<Answer> {
  const progress = reportProgress(exchange, context.clock);
  const options: BoardCallOptions = {
    callId: exchange.callId,
    caller: exchange.client.caller.label,
    approvalsOf: personOf(exchange.client.caller),
    onUpdate: progress?.onUpdate,
    framed: true,
    meta: exchange.trace,
    onElicitation: undefined,
    onSampling: undefined,
    onApproval: undefined,
  };
  const call: Call = { name, args, options, waiting: progress?.waiting };
  const answer =
    context.questions === "board"
      ? callForBoard(exchange, context, call)
      : exchange.client.era === "legacy"
        ? callForLegacy(exchange, context, call)
        : callForModern(exchange, context, call);
  return progress === undefined ? answer : answer.finally(progress.stop);
}

interface Call {
  name: string;
  args: JsonObject;
  options: BoardCallOptions;
  /** Tells the client what the call waits for. */
  waiting: ((message: string) => void) | undefined;
}

/** The board's own handlers answer whatever comes up, in either era. */
async function callForBoard(
  exchange: Exchange,
  context: EndpointContext,
  call: Call,
): Promise<Answer> {
  const { board, waiting } = context;
  const { waiting: tell } = call;
  if (tell !== undefined) waiting.set(exchange.callId, tell);
  try {
    return answerTo(call, await callUntil(exchange.signal, board, call), exchange, context);
  } finally {
    waiting.delete(exchange.callId);
  }
}

async function callForLegacy(
  exchange: Exchange,
  context: EndpointContext,
  call: Call,
): Promise<Answer> {
  const { client } = exchange;
  const { options, waiting } = call;
  // Every call pays for this, so the options are completed and not copied.
  const { onElicitation, onSampling } = handlersOf(client, context);
  options.onElicitation = onElicitation;
  options.onSampling = onSampling;
  options.onApproval = client.canBeAsked
    ? approvalFrom(
        { client, capabilities: client.profile.capabilities, ask: asker(client), waiting },
        context,
      )
    : approvalElsewhere({ client, waiting }, context);
  return answerTo(call, await callUntil(exchange.signal, context.board, call), exchange, context);
}

async function callForModern(
  exchange: Exchange,
  context: EndpointContext,
  call: Call,
): Promise<Answer> {
  const { client, request, capabilities, signal } = exchange;
  const bound = (): Bound => boundTo(exchange, context, call.name, call.args);
  const brought = readBroughtBack(request.params, bound, context);
  if ("error" in brought) return brought;
  if (brought.state?.held !== undefined) {
    const held = context.held.take(brought.state.held, client.caller.id);
    if (held === undefined) return toAnswer(lostCall(call.name), exchange);
    held.respond(brought.responses ?? {});
    return settle(await held.next(signal), held, bound, context);
  }
  const input = inputOf(brought);
  const make = async (until: LightSignal, more: BoardCallOptions): Promise<Answer> => {
    const common = { ...call.options, clientCapabilities: capabilities, input };
    const made = { ...call, options: { ...common, ...more } };
    const outcome = await callUntil(until, context.board, made);
    return outcome.inputRequired === undefined
      ? answerTo(call, outcome, exchange, context)
      : { result: askedByServer(outcome.inputRequired, bound(), context) };
  };
  if (!takesQuestions(capabilities)) {
    const asking = { client, capabilities, ask: CANNOT_ASK, waiting: call.waiting };
    return make(signal, { onApproval: approvalFrom(asking, context) });
  }
  const held = new HeldCall((ask, until) =>
    context.shared.during(
      exchange,
      context.serverOf(call.name),
      { ask, signal: until },
      (handlers) =>
        make(until, {
          ...handlers,
          onApproval: approvalFrom({ client, capabilities, ask, waiting: call.waiting }, context),
        }),
    ),
  );
  return settle(await held.next(signal), held, bound, context);
}

function callUntil(
  signal: LightSignal,
  board: EndpointBoard,
  { name, args, options }: Call,
): Promise<CallOutcome> {
  return board.callUntil === undefined
    ? board.call(name, args, { ...options, signal: abortSignalOf(signal) })
    : board.callUntil(signal, name, args, options);
}

/** What the client gets: the result, or the questions of a call that is held meanwhile. */
function settle(
  next: Next,
  held: HeldCall,
  boundOf: () => Bound,
  context: EndpointContext,
): Answer {
  if (next.kind === "ended") return next.answer;
  const bound = boundOf();
  const id = context.held.hold(held, bound.caller);
  if (id === undefined) {
    held.cancel();
    return refuse(
      RPC.internalError,
      "too many calls wait for answers; answer or cancel some of them first",
    );
  }
  const { home } = context;
  const requestState = sealState({ held: id, ...(home && { home }) }, bound, context);
  return { result: { resultType: "input_required", inputRequests: next.requests, requestState } };
}

function lostCall(name: string): CallOutcome {
  const text =
    `The call of ${name} waited here for an answer and is lost, because the gateway was restarted or the answer came too late. ` +
    "The tool may have run. Check before you call it again.";
  return { content: [{ type: "text", text }], isError: true };
}

const CUT_OFF = {
  type: "text",
  text: "It was cancelled because Plugboard is stopping, or because the client has ended its session.",
} as const;

function answerTo(
  call: Call,
  outcome: CallOutcome,
  exchange: Exchange,
  { board }: EndpointContext,
): Answer | Promise<Answer> {
  // A cancelled call is answered at once: its client may be about to leave.
  const isOver = outcome.isError !== true || outcome.failure?.code === "CANCELLED";
  if (isOver) return toAnswer(outcome, exchange);
  return explained(call, outcome, board).then((all) => toAnswer(all, exchange));
}

/** A server that failed may not have said which arguments it cannot use. */
async function explained(
  { name, args }: Call,
  outcome: CallOutcome,
  board: EndpointBoard,
): Promise<CallOutcome> {
  const tool = board.tools({ all: true }).find((each) => each.name === name);
  if (tool?.source.kind !== "mcp") return outcome;
  // Loaded with the first failure.
  const { misfitNote } = await import("../../../core/tools/arguments/misfits.ts");
  const text = misfitNote(outcome, args, tool.parameters);
  return text === undefined
    ? outcome
    : { ...outcome, content: [...outcome.content, { type: "text", text }] };
}

function toAnswer(outcome: CallOutcome, exchange: Exchange): Answer {
  const { content, structuredContent, isError, _meta, failure } = outcome;
  const { client } = exchange;
  exchange.failure = failure;
  if (failure?.code === "UNKNOWN_TOOL") {
    return refuse(RPC.invalidParams, failure.message, { code: failure.code });
  }
  const { serverError } = failure ?? {};
  // Only the client can do something about it.
  if (client.era === "modern" && serverError?.code === RPC.missingCapability) {
    return refuse(serverError.code, failure?.message ?? "", serverError.data);
  }
  // The client has not cancelled the call, so it is told who has.
  const isCutOff = failure?.code === "CANCELLED" && client.isGone;
  return {
    result: {
      content: isCutOff ? [...content, CUT_OFF] : content,
      structuredContent,
      ...(isError === true && { isError }),
      _meta,
    },
  };
}
