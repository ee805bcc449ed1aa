// Makes every guarded call of a board: to a tool of a server, to a native tool, for a resource or for a prompt. All of
// them take the same way.

import { randomUUID } from "node:crypto";
import { toFailure, toGatewayFailure } from "../tools/failure.ts";
import { toInputRequired, toOutcome } from "../tools/outcome.ts";
import { ownTime } from "../guard/own-time.ts";
import { outcomeSize } from "../guard/outcome-size.ts";
import { requireSendable } from "../guard/sent-arguments.ts";
import type { BoardCallOptions } from "../types/board.ts";
import type { CallOptions } from "../types/connection.ts";
import { cancelled, ofSession, PlugboardError, toPlugboardError } from "../types/errors.ts";
import type { BoardEvents, CallWatcher, WatchedCallEvent } from "../types/events.ts";
import type {
  Callee,
  Decision,
  GuardedCall,
  Next,
  OutermostStage,
  Subject,
} from "../types/guard.ts";
import type { JsonObject } from "../types/json.ts";
import { OBJECT, OBJECTS, requireKind } from "../types/kinds.ts";
import { type Logger, silentLogger } from "../types/logger.ts";
import type { RequestHandlers } from "../types/request-handlers.ts";
import type { ServerDefinition } from "../types/server-definition.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type {
  CallOutcome,
  NativeTool,
  NativeToolResult,
  Progress,
  ToolUpdate,
  UpdateListener,
} from "../types/tool.ts";
import type { CallCounter, LiveServer, ServerSupervisor } from "../types/supervisor.ts";
import { abortSignalOf, allowManyListeners, type CallSignal } from "../../util/abort.ts";
import type { Clock } from "../../util/clock.ts";
import type { Emitter } from "../../util/emitter.ts";
import { errorMessage } from "../../util/error-message.ts";
import { jsonLength } from "../../util/json-length.ts";
import { excerpt } from "../../util/text.ts";
import { tell } from "../../util/tell.ts";
import type { BoardGuard } from "./guard.ts";
import { runNative } from "./native-call.ts";

/** The decision that a call starts with. A stage that decides otherwise replaces it. */
const ALLOWED: Decision = { verdict: "allowed" };

/** A call with more values than this is too large to be watched: measuring it would take long. */
const MOST_MEASURED = 20_000;

/** Progress extends the timeout of a call up to this. */
const CALL_CEILING_MS = 600_000;

type Frame = (outcome: CallOutcome) => Promise<CallOutcome>;

/** What can be called, with the guard around it. */
export interface Callable {
  readonly subject: Subject;
  readonly guarded: Next;
}

/** What a guarded call does, and how its outcome is framed. */
export interface Called<Answer> {
  callee: Callee<Answer>;
  /** Frames an outcome, where the configuration asks for that. */
  frame?: Frame | undefined;
  /** Only rules apply, no limits and no approval. */
  asksNobody?: boolean;
  /** Counts the calls of the tool's server. */
  counter?: () => CallCounter;
}

/** One kind of request to a server. */
export interface ServerRequest<Answer> extends Pick<Callee<Answer>, "received" | "failed"> {
  /** Runs when the server is ready, before the request is sent. It rejects to refuse the request. */
  confirm: (call: GuardedCall) => Promise<void> | undefined;
  send: (connection: LiveServer, call: GuardedCall, options: CallOptions) => Promise<Answer>;
}

export interface CallsOptions {
  clock: Clock;
  logger: Logger;
  events: Emitter<BoardEvents>;
  guard: Pick<BoardGuard, "around">;
  /** Knows the board's secrets. */
  redactor: Pick<Redactor, "text" | "value" | "partsWithSecrets">;
  /** How long a call to the server may take without progress, in milliseconds. */
  timeoutOf: (definition: ServerDefinition) => number;
  /** The same for native tools that do not say. */
  nativeTimeout: number;
  /** Only for a board over another. */
  over?: {
    /** Asked where the caller brings no handlers. Without them, a shared server would ask those of the agent's board. */
    handlers: RequestHandlers;
    /** The agent's board hears of the session's calls too. */
    events: Emitter<BoardEvents>;
    session: string;
    /** Ends the calls that are running: the shared servers that they are on do not end with the board. */
    closing: AbortSignal;
  };
}

export class Calls {
  readonly #options: CallsOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #events: Emitter<BoardEvents>;
  readonly #handlers: RequestHandlers;
  readonly #closing: AbortSignal | undefined;
  /** Made once: a random id for each call would cost a third of its CPU time. */
  readonly #idPrefix = randomUUID().slice(0, 13);
  #idsMade = 0;
  #watcher: CallWatcher | undefined;
  readonly #said = new Set<string>();
  readonly #notify = (text: string): void => {
    if (this.#said.has(text)) return;
    this.#said.add(text);
    this.#logger.warn(text);
    this.#events.emit("notice", { text });
  };
  #running = 0;
  #onIdle: (() => void) | undefined;

  constructor(options: CallsOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#events = options.events;
    this.#handlers = options.over?.handlers ?? {};
    this.#closing = options.over?.closing;
    if (this.#closing !== undefined) allowManyListeners(this.#closing);
  }

  /**
   * The chain around the calls of one subject. `make` runs with the first call. A failed call of a tool is an outcome; a
   * failed request for a resource or prompt rejects.
   */
  around<Answer>(subject: Subject, make: () => Called<Answer>): Next {
    return this.#options.guard.around(subject, () => {
      const { frame, counter, ...called } = make();
      const outermost =
        subject.content === undefined ? this.#forTool(frame, counter) : this.#forContent;
      return { ...called, outermost };
    });
  }

  /** Shows calls to a watcher, in the place of an earlier one. Returns a function that ends it. */
  watch(watcher: CallWatcher): () => void {
    this.#watcher = watcher;
    return () => {
      if (this.#watcher === watcher) this.#watcher = undefined;
    };
  }

  /** Not async: all halves of a call share one async function, which is in the chain around it. */
  run(
    callable: Callable,
    args: JsonObject,
    options: BoardCallOptions,
    signal: CallSignal | undefined = options.signal,
  ): Promise<CallOutcome> {
    if (signal !== undefined) allowManyListeners(signal);
    if (this.#closing === undefined) return this.#start(callable, args, options, signal);
    return this.untilClosed(signal, (either) => this.#start(callable, args, options, either));
  }

  /** Runs something that ends when `given` aborts or the board closes. */
  untilClosed<Outcome>(
    given: CallSignal | undefined,
    run: (signal: CallSignal | undefined) => Promise<Outcome>,
  ): Promise<Outcome> {
    if (this.#closing === undefined) return run(given);
    const both = given === undefined ? [] : [abortSignalOf(given)];
    return untilEither([...both, this.#closing], run);
  }

  #start(
    { guarded, subject }: Callable,
    args: JsonObject,
    options: BoardCallOptions,
    signal: CallSignal | undefined,
  ): Promise<CallOutcome> {
    const {
      callId = this.#newCallId(),
      onUpdate,
      onElicitation = this.#handlers.onElicitation,
      onSampling = this.#handlers.onSampling,
    } = options;
    const now = this.#clock.monotonic();
    const call: GuardedCall = {
      callId,
      subject,
      args,
      started: now,
      now,
      signal,
      onUpdate: onUpdate && ((update) => this.#update(onUpdate, update)),
      handlers: onElicitation || onSampling ? { onElicitation, onSampling } : undefined,
      caller: options.caller,
      onApproval: options.onApproval,
      approvalsOf: options.approvalsOf,
      request: options,
      framed: options.framed,
      notify: this.#notify,
      decision: ALLOWED,
      audit: undefined,
      argsJson: undefined,
      waitedMs: 0,
      isSent: false,
      timeline: this.#isWatched(subject, now) ? { steps: [], redacted: [] } : undefined,
    };
    this.#running += 1;
    return guarded(call);
  }

  /** The stage that every call of a tool ends in. */
  #forTool(frame: Frame | undefined, counter: Called<unknown>["counter"]): OutermostStage {
    return {
      after: (call, outcome) =>
        call.framed && frame !== undefined && outcome.inputRequired === undefined
          ? this.#endFramed(call, outcome, frame, counter)
          : this.#end(call, outcome, counter),
      failed: (call, error) => this.#end(call, failureOf(call, error), counter),
    };
  }

  /** For a resource or prompt: no event reports the request as a call, and its caller gets the error itself. */
  readonly #forContent: OutermostStage = {
    after: (_, outcome) => {
      this.#ended();
      return outcome;
    },
    failed: (_, error) => {
      this.#ended();
      throw error;
    },
  };

  async #endFramed(
    call: GuardedCall,
    outcome: CallOutcome,
    frame: Frame,
    counter: Called<unknown>["counter"],
  ): Promise<CallOutcome> {
    let framed: CallOutcome;
    try {
      framed = await frame(outcome);
    } catch (error) {
      framed = failureOf(call, error);
    }
    call.now = this.#clock.monotonic();
    return this.#end(call, framed, counter);
  }

  #end(call: GuardedCall, outcome: CallOutcome, counter: Called<unknown>["counter"]): CallOutcome {
    this.#ended();
    const { isError = false } = outcome;
    const { waitedMs } = call;
    const durationMs = ownTime(call);
    counter?.().ended?.({ durationMs, waitedMs, isError });
    this.#report(call, outcome, durationMs);
    return outcome;
  }

  #ended(): void {
    this.#running -= 1;
    if (this.#running === 0) this.#onIdle?.();
  }

  /** Resolves when no call is running. */
  async idle(): Promise<void> {
    if (this.#running === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  /** `confirm` runs when the server is ready, before the call is sent. It rejects to refuse the call. */
  toTool(
    supervisor: ServerSupervisor,
    tool: string,
    confirm: ServerRequest<unknown>["confirm"],
  ): Callee {
    const { name: server } = supervisor.definition;
    const { redactor } = this.#options;
    const quote = (received: unknown): string =>
      excerpt(received, (text, isCut) => redactor.text(text, isCut));
    return this.toServer(supervisor, {
      confirm,
      send: (connection, call, options) => connection.callTool(tool, call.args, options),
      received: (call, result) => {
        const asked = call.request?.input === undefined ? undefined : toInputRequired(result);
        return asked === undefined
          ? toOutcome(result, quote)
          : { content: [], inputRequired: asked };
      },
      failed: (call, error) => toFailure(error, { server, tool, isSent: call.isSent }),
    });
  }

  /** Starts the server if needed, and keeps it from being idle. */
  toServer<Answer>(
    supervisor: ServerSupervisor,
    { confirm, send, received, failed }: ServerRequest<Answer>,
  ): Callee<Answer> {
    const sendNow = (connection: LiveServer, call: GuardedCall): Promise<Answer> => {
      requireSendable(call);
      const options = callOptions(call, this.#options.timeoutOf(supervisor.definition), this);
      call.isSent = true;
      return send(connection, call, options);
    };
    const sendConfirmed = async (
      connection: LiveServer,
      call: GuardedCall,
      confirmation = confirm(call),
    ): Promise<Answer> => {
      await confirmation;
      return await sendNow(connection, call);
    };
    return {
      // A call to a ready server that needs no confirmation waits for nothing but the answer.
      send: (call) => {
        this.#reportStart(call);
        supervisor.enter();
        const { direct } = supervisor;
        if (direct === undefined) {
          return supervisor.acquire(call.signal).then((ready) => sendConfirmed(ready, call));
        }
        const confirmation = confirm(call);
        return confirmation === undefined
          ? sendNow(direct, call)
          : sendConfirmed(direct, call, confirmation);
      },
      received: (call, answer) => {
        supervisor.leave();
        return received(call, answer);
      },
      failed: (call, error) => {
        supervisor.leave();
        const isOfSession = supervisor.definition.origin === "session";
        const told = isOfSession && error instanceof PlugboardError ? ofSession(error) : error;
        return failed(call, told);
      },
    };
  }

  /** For a tool that runs in a gateway and is guarded there: what comes back is an outcome. */
  toGateway(
    gateway: () => Pick<LiveServer, "callTool"> | undefined,
    { server, tool }: { server?: string; tool: string },
  ): Callee {
    return {
      send: (call) => {
        this.#reportStart(call);
        const live = gateway();
        if (live === undefined) throw gatewayGone();
        requireSendable(call);
        const { caller, approvalsOf, onApproval, onUpdate } = call;
        const by = { caller, approvalsOf, onApproval };
        // The gateway knows how long the call may take.
        const options = { ...callOptions(call, Infinity, this), by, onUpdate };
        call.isSent = true;
        return live.callTool(tool, call.args, options);
      },
      // The gateway hears that the call was cancelled, and not why.
      received: ({ signal }, answer) => {
        const outcome = answer as CallOutcome;
        const { code, message } = cancelled(signal);
        if (outcome.failure?.code !== "CANCELLED" || code === "CANCELLED") return outcome;
        return { ...outcome, failure: { ...outcome.failure, code, message } };
      },
      failed: (call, error) =>
        call.isSent || server === undefined
          ? toGatewayFailure(error, call.isSent)
          : toFailure(error, { server, tool }),
    };
  }

  toNative(tool: NativeTool, confirm: ServerRequest<unknown>["confirm"]): Callee<NativeToolResult> {
    const { toolTimeout: timeout = this.#options.nativeTimeout } = tool;
    return {
      send: (call) => {
        this.#reportStart(call);
        const run = (): Promise<NativeToolResult> => {
          call.isSent = call.signal?.aborted !== true;
          return runNative(tool, call, { clock: this.#clock, timeout, ceiling: CALL_CEILING_MS });
        };
        const confirmation = confirm(call);
        return confirmation === undefined ? run() : confirmation.then(run);
      },
      received: (_, result) => outcomeOf(tool, result),
      failed: ({ signal, isSent }, error) => {
        const reason =
          signal?.aborted && !(error instanceof PlugboardError)
            ? cancelled(signal)
            : toPlugboardError(error, "TOOL_FAILED");
        const { failure, ...outcome } = toFailure(reason);
        const mayHaveRun = isSent && (reason.code === "TIMEOUT" || reason.code === "CANCELLED");
        return {
          ...outcome,
          failure: failure && { ...failure, ...(mayHaveRun && { mayHaveRun }) },
        };
      },
    };
  }

  /** A request for a resource or prompt is never shown to a watcher. */
  #isWatched({ content }: Subject, now: number): boolean {
    return this.#watcher !== undefined && content === undefined && this.#watcher.admits(now);
  }

  #newCallId(): string {
    this.#idsMade += 1;
    return `${this.#idPrefix}-${this.#idsMade}`;
  }

  #reportStart({ callId, subject, caller, timeline }: GuardedCall): void {
    const isHeard = this.#isHeard("callStart") && subject.content === undefined;
    if (!isHeard && timeline === undefined) return;
    const { publicName: tool, source } = subject;
    const by = caller === undefined ? {} : { caller };
    const event = { callId, tool, source, ...by };
    if (isHeard) this.#emit("callStart", event);
    if (timeline !== undefined) this.#show((watcher) => watcher.started(event));
  }

  #report(call: GuardedCall, outcome: CallOutcome, durationMs: number): void {
    const { callId, subject, timeline, waitedMs } = call;
    const isLogged = this.#logger !== silentLogger;
    const isHeard = this.#isHeard("call");
    if (!isLogged && !isHeard && timeline === undefined) return;
    const { publicName: tool, source } = subject;
    const { failure, isError = false } = outcome;
    if (isLogged) this.#logger.debug("call", { tool, ms: durationMs, ...(isError && { isError }) });
    if (!isHeard && timeline === undefined) return;
    const waited = waitedMs > 0 ? { waitedMs } : {};
    const event = { callId, tool, source, durationMs, ...waited, isError, failure };
    if (isHeard) this.#emit("call", event);
    if (timeline === undefined) return;
    const { args, caller, decision } = call;
    const { redactor } = this.#options;
    const bytes = outcomeSize(outcome);
    const watched: WatchedCallEvent = {
      ...event,
      ...(caller !== undefined && { caller }),
      decision,
      bytes,
      steps: timeline.steps,
      size: (most) =>
        bytes + jsonLength([args, outcome.structuredContent], most - bytes, MOST_MEASURED),
      read: () => ({
        args: redactor.value(args),
        outcome,
        redacted: { args: redactor.partsWithSecrets(args), answer: timeline.redacted },
      }),
    };
    this.#show((watcher) => watcher.ended(watched));
  }

  #isHeard(event: "callStart" | "call"): boolean {
    return this.#events.has(event) || this.#options.over?.events.has(event) === true;
  }

  #emit<Name extends "callStart" | "call">(name: Name, event: BoardEvents[Name]): void {
    this.#events.emit(name, event);
    const { over } = this.#options;
    if (over?.events.has(name)) over.events.emit(name, { ...event, session: over.session });
  }

  #show(show: (watcher: CallWatcher) => void): void {
    try {
      if (this.#watcher !== undefined) show(this.#watcher);
    } catch (error) {
      this.#logger.error("a watcher of calls threw", { reason: String(error) });
    }
  }

  #update(listener: UpdateListener, update: ToolUpdate): void {
    tell(
      () => listener(update),
      (error) => this.#logger.error("an update listener threw", { reason: String(error) }),
    );
  }
}

/** The gateway went away between the moment when the call found its server there and the moment of sending. */
function gatewayGone(): PlugboardError {
  const message = "the gateway has just gone away; the call was not sent";
  return new PlugboardError("SERVER_UNAVAILABLE", message, { hasNotRun: true, quote: "" });
}

/**
 * Each call has a signal of its own, since a tool may leave a listener on it. Not that of `AbortSignal.any`, which stays
 * with its sources until these are gone.
 */
async function untilEither<Outcome>(
  signals: readonly AbortSignal[],
  run: (either: AbortSignal) => Promise<Outcome>,
): Promise<Outcome> {
  const ending = new AbortController();
  const onAbort = (): void => {
    ending.abort(signals.find(({ aborted }) => aborted)?.reason);
  };
  if (signals.some(({ aborted }) => aborted)) onAbort();
  for (const each of signals) each.addEventListener("abort", onAbort, { once: true });
  try {
    return await run(ending.signal);
  } finally {
    for (const each of signals) each.removeEventListener("abort", onAbort);
  }
}

function failureOf({ subject }: GuardedCall, error: unknown): CallOutcome {
  return toFailure(error, subject.source.kind === "mcp" ? subject.source : undefined);
}

function callOptions(call: GuardedCall, timeout: number, board: object): CallOptions {
  const { callId, argsJson, signal, onUpdate, handlers, request } = call;
  return {
    waits: call,
    callId,
    argsJson,
    board,
    timeout,
    ceiling: CALL_CEILING_MS,
    signal,
    handlers,
    meta: request?.meta,
    input: request?.input,
    clientCapabilities: request?.clientCapabilities,
    onProgress: onUpdate && ((each) => onUpdate(progressUpdate(each))),
  };
}

function progressUpdate(progress: Progress): ToolUpdate {
  const { message } = progress;
  return { content: message === undefined ? [] : [{ type: "text", text: message }], progress };
}

/** Throws TOOL_FAILED for what is no result: a program without types can give anything. */
function outcomeOf({ name }: NativeTool, result: NativeToolResult): CallOutcome {
  try {
    requireKind(`the result of the native tool '${name}'`, result, OBJECT);
    requireKind(`content in the result of the native tool '${name}'`, result.content, OBJECTS);
  } catch (error) {
    throw new PlugboardError("TOOL_FAILED", errorMessage(error), { cause: error });
  }
  const { details: _, ...outcome } = result;
  return outcome;
}
