// Makes calls, to a server through its supervisor or to a native tool. Every call ends with an outcome, failures
// included.

import { randomUUID } from "node:crypto";
import { toFailure } from "../bridge/failure.ts";
import { toInputRequired, toOutcome } from "../bridge/outcome.ts";
import type { BoardCallOptions } from "../model/board.ts";
import type { CallOptions } from "../model/connection.ts";
import { cancelled, PlugboardError, toPlugboardError } from "../model/errors.ts";
import type { BoardEvents } from "../model/events.ts";
import type { Decision, GuardedCall } from "../model/guard.ts";
import type { JsonObject } from "../model/json.ts";
import { type Logger, silentLogger } from "../model/logger.ts";
import type { ServerDefinition } from "../model/server-definition.ts";
import type {
  CallOutcome,
  NativeTool,
  Progress,
  ToolUpdate,
  UpdateListener,
} from "../model/tool.ts";
import type { Supervisor } from "../server/supervisor/supervisor.ts";
import { allowManyListeners } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import type { Emitter } from "../util/emitter.ts";
import { isDeeperThan, REFUSED_DEPTH } from "../util/json-depth.ts";
import { excerpt } from "../util/text.ts";
import type { BoardTool } from "./tools.ts";

/** The decision that a call starts with. A stage that decides otherwise replaces it. */
const ALLOWED: Decision = { verdict: "allowed" };

/** Progress extends the timeout of a call up to this. */
const CALL_CEILING_MS = 600_000;

export class Calls {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #events: Emitter<BoardEvents>;
  readonly #quote: (received: unknown) => string;
  readonly #timeoutOf: (definition: ServerDefinition) => number;
  /** Made once: a random id for each call would cost a third of its CPU time. */
  readonly #idPrefix = randomUUID().slice(0, 13);
  #idsMade = 0;
  readonly #said = new Set<string>();
  readonly #notify = (text: string): void => {
    if (this.#said.has(text)) return;
    this.#said.add(text);
    this.#logger.warn(text);
    this.#events.emit("notice", { text });
  };
  #running = 0;
  #onIdle: (() => void) | undefined;

  /**
   * `redact` removes the board's secrets from a text; `isCut` says that the text was cut off. `timeoutOf` tells how long
   * a call to the server may take without progress, in milliseconds.
   */
  constructor(
    clock: Clock,
    logger: Logger,
    events: Emitter<BoardEvents>,
    redact: (text: string, isCut: boolean) => string,
    timeoutOf: (definition: ServerDefinition) => number,
  ) {
    this.#clock = clock;
    this.#logger = logger;
    this.#events = events;
    this.#quote = (received) => excerpt(received, redact);
    this.#timeoutOf = timeoutOf;
  }

  async run(
    { guarded, subject, frame }: BoardTool,
    args: JsonObject,
    options: BoardCallOptions,
  ): Promise<CallOutcome> {
    const { callId = this.#newCallId(), signal, onUpdate, onElicitation, onSampling } = options;
    const { source } = subject;
    if (signal !== undefined) allowManyListeners(signal);
    const call: GuardedCall = {
      callId,
      subject,
      args,
      started: this.#clock.monotonic(),
      signal,
      onUpdate: onUpdate && ((update) => this.#update(onUpdate, update)),
      handlers: onElicitation || onSampling ? { onElicitation, onSampling } : undefined,
      caller: options.caller,
      onApproval: options.onApproval,
      approvalsOf: options.approvalsOf,
      request: options,
      notify: this.#notify,
      decision: ALLOWED,
      audit: undefined,
    };
    let outcome: CallOutcome;
    this.#running += 1;
    try {
      outcome = await guarded(call);
      if (options.framed && frame !== undefined && outcome.inputRequired === undefined) {
        outcome = await frame(outcome);
      }
    } catch (error) {
      outcome = toFailure(error, source.kind === "mcp" ? source : undefined);
    }
    this.#running -= 1;
    if (this.#running === 0) this.#onIdle?.();
    this.#report(call, outcome);
    return outcome;
  }

  /** Resolves when no call is running. */
  async idle(): Promise<void> {
    if (this.#running === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  /** `confirm` runs when the server is ready, before the call is sent. It rejects to refuse the call. */
  async callServer(
    supervisor: Supervisor,
    tool: string,
    call: GuardedCall,
    confirm: () => Promise<void> | undefined,
  ): Promise<CallOutcome> {
    const started = this.#clock.monotonic();
    let outcome: CallOutcome;
    let isSent = false;
    this.#reportStart(call);
    supervisor.enter();
    try {
      const connection = supervisor.live ?? (await supervisor.acquire(call.signal));
      // Most calls need no confirmation and skip the await.
      const confirmation = confirm();
      if (confirmation !== undefined) await confirmation;
      requireShallow("the arguments are", call.args);
      if (call.request !== undefined) requireShallowRequest(call.request);
      const timeout = this.#timeoutOf(supervisor.definition);
      const options = callOptions(call, timeout, this);
      isSent = true;
      const result = await connection.callTool(tool, call.args, options);
      const asked = options.input === undefined ? undefined : toInputRequired(result);
      outcome =
        asked === undefined
          ? toOutcome(result, this.#quote)
          : { content: [], inputRequired: asked };
    } catch (error) {
      outcome = toFailure(error, { server: supervisor.definition.name, tool, isSent });
    }
    supervisor.leave(this.#clock.monotonic() - started, outcome.failure !== undefined);
    return outcome;
  }

  async callNative(tool: NativeTool, call: GuardedCall): Promise<CallOutcome> {
    const { callId, args, signal, onUpdate } = call;
    this.#reportStart(call);
    try {
      if (signal?.aborted) throw cancelled();
      const { details: _, ...outcome } = await tool.execute(callId, args, signal, onUpdate);
      return outcome;
    } catch (error) {
      return toFailure(toPlugboardError(error, signal?.aborted ? "CANCELLED" : "TOOL_FAILED"));
    }
  }

  #newCallId(): string {
    this.#idsMade += 1;
    return `${this.#idPrefix}-${this.#idsMade}`;
  }

  #reportStart({ callId, subject }: GuardedCall): void {
    if (!this.#events.has("callStart")) return;
    const { publicName: tool, source } = subject;
    this.#events.emit("callStart", { callId, tool, source });
  }

  #report({ callId, subject, started }: GuardedCall, outcome: CallOutcome): void {
    const isLogged = this.#logger !== silentLogger;
    const isHeard = this.#events.has("call");
    if (!isLogged && !isHeard) return;
    const { publicName: tool, source } = subject;
    const { failure, isError = false } = outcome;
    const durationMs = this.#clock.monotonic() - started;
    if (isLogged) this.#logger.debug("call", { tool, ms: durationMs, ...(isError && { isError }) });
    if (!isHeard) return;
    this.#events.emit("call", { callId, tool, source, durationMs, isError, failure });
  }

  #update(listener: UpdateListener, update: ToolUpdate): void {
    try {
      listener(update);
    } catch (error) {
      this.#logger.error("an update listener threw", { reason: String(error) });
    }
  }
}

/** Throws for what no JSON writer survives. `what` begins the sentence about it. */
function requireShallow(what: string, value: unknown): void {
  if (!isDeeperThan(REFUSED_DEPTH, value)) return;
  const message = `${what} nested more than ${REFUSED_DEPTH} levels deep`;
  throw new PlugboardError("INVALID_ARGUMENTS", `${message}; the tool was not called`);
}

/** The same for what the caller gives with the arguments. */
export function requireShallowRequest(request: NonNullable<GuardedCall["request"]>): void {
  const { meta, input, clientCapabilities } = request;
  if (meta !== undefined) requireShallow("the metadata of the call is", meta);
  if (input !== undefined) requireShallow("the answers to the server are", input);
  if (clientCapabilities !== undefined) {
    requireShallow("the capabilities of the client are", clientCapabilities);
  }
}

function callOptions(
  { callId, signal, onUpdate, handlers, request }: GuardedCall,
  timeout: number,
  board: object,
): CallOptions {
  return {
    callId,
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
