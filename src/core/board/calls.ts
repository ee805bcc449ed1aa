// Makes calls, to a server through its supervisor or to a native tool. Every call ends with an outcome, failures
// included.

import { randomUUID } from "node:crypto";
import { toFailure, toGatewayFailure } from "../tools/failure.ts";
import { toInputRequired, toOutcome } from "../tools/outcome.ts";
import type { BoardCallOptions } from "../types/board.ts";
import type { CallOptions } from "../types/connection.ts";
import { cancelled, PlugboardError, toPlugboardError } from "../types/errors.ts";
import type { BoardEvents } from "../types/events.ts";
import type { Callee, Decision, GuardedCall, OutermostStage } from "../types/guard.ts";
import type { JsonObject } from "../types/json.ts";
import { type Logger, silentLogger } from "../types/logger.ts";
import type { ServerDefinition } from "../types/server-definition.ts";
import type {
  CallOutcome,
  NativeTool,
  NativeToolResult,
  Progress,
  ToolUpdate,
  UpdateListener,
} from "../types/tool.ts";
import type { LiveServer, ServerSupervisor } from "../types/shared-servers.ts";
import { allowManyListeners } from "../../util/abort.ts";
import type { Clock } from "../../util/clock.ts";
import type { Emitter } from "../../util/emitter.ts";
import { isDeeperThan, REFUSED_DEPTH } from "../../util/json-depth.ts";
import { excerpt } from "../../util/text.ts";
import type { BoardTool } from "./tools.ts";

/** The decision that a call starts with. A stage that decides otherwise replaces it. */
const ALLOWED: Decision = { verdict: "allowed" };

/** Progress extends the timeout of a call up to this. */
const CALL_CEILING_MS = 600_000;

type Frame = (outcome: CallOutcome) => Promise<CallOutcome>;
type Confirm = (call: GuardedCall) => Promise<void> | undefined;

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

  /** Never rejects. Not async: all halves of a call share one async function, which is in the tool's chain. */
  run(
    { guarded, subject }: BoardTool,
    args: JsonObject,
    options: BoardCallOptions,
  ): Promise<CallOutcome> {
    const { callId = this.#newCallId(), signal, onUpdate, onElicitation, onSampling } = options;
    if (signal !== undefined) allowManyListeners(signal);
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
      reached: now,
      isSent: false,
    };
    this.#running += 1;
    return guarded(call);
  }

  /** The stage that every call ends in. `frame` frames an outcome, where the configuration asks for that. */
  outermost(frame: Frame | undefined): OutermostStage {
    return {
      after: (call, outcome) =>
        call.framed && frame !== undefined && outcome.inputRequired === undefined
          ? this.#endFramed(call, outcome, frame)
          : this.#end(call, outcome),
      failed: (call, error) => this.#end(call, failureOf(call, error)),
    };
  }

  async #endFramed(call: GuardedCall, outcome: CallOutcome, frame: Frame): Promise<CallOutcome> {
    let framed: CallOutcome;
    try {
      framed = await frame(outcome);
    } catch (error) {
      framed = failureOf(call, error);
    }
    call.now = this.#clock.monotonic();
    return this.#end(call, framed);
  }

  #end(call: GuardedCall, outcome: CallOutcome): CallOutcome {
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
  toServer(supervisor: ServerSupervisor, tool: string, confirm: Confirm): Callee {
    const { name: server } = supervisor.definition;
    const send = (connection: LiveServer, call: GuardedCall): Promise<unknown> => {
      requireShallow("the arguments are", call.args);
      if (call.request !== undefined) requireShallowRequest(call.request);
      const options = callOptions(call, this.#timeoutOf(supervisor.definition), this);
      call.isSent = true;
      return connection.callTool(tool, call.args, options);
    };
    const sendConfirmed = async (
      connection: LiveServer,
      call: GuardedCall,
      confirmation = confirm(call),
    ): Promise<unknown> => {
      await confirmation;
      return await send(connection, call);
    };
    const leave = (call: GuardedCall, outcome: CallOutcome): CallOutcome => {
      supervisor.leave(call.now - call.reached, outcome.failure !== undefined);
      return outcome;
    };
    return {
      // A call to a ready server that needs no confirmation waits for nothing but the answer.
      send: (call) => {
        call.reached = call.now;
        this.#reportStart(call);
        supervisor.enter();
        const { live } = supervisor;
        if (live === undefined) {
          return supervisor.acquire(call.signal).then((ready) => sendConfirmed(ready, call));
        }
        const confirmation = confirm(call);
        return confirmation === undefined
          ? send(live, call)
          : sendConfirmed(live, call, confirmation);
      },
      received: (call, result) => {
        const asked = call.request?.input === undefined ? undefined : toInputRequired(result);
        if (asked !== undefined) return leave(call, { content: [], inputRequired: asked });
        return leave(call, toOutcome(result, this.#quote));
      },
      failed: (call, error) => leave(call, toFailure(error, { server, tool, isSent: call.isSent })),
    };
  }

  /** For a tool that runs in a gateway and is guarded there: what comes back is an outcome. */
  toGateway(
    gateway: () => Pick<LiveServer, "callTool"> | undefined,
    { server, tool }: { server?: string; tool: string },
  ): Callee {
    return {
      send: (call) => {
        call.reached = call.now;
        this.#reportStart(call);
        const live = gateway();
        if (live === undefined) throw gatewayGone();
        requireShallow("the arguments are", call.args);
        if (call.request !== undefined) requireShallowRequest(call.request);
        const { caller, approvalsOf, onApproval, onUpdate } = call;
        const by = { caller, approvalsOf, onApproval };
        // The gateway knows how long the call may take.
        const options = { ...callOptions(call, Infinity, this), by, onUpdate };
        call.isSent = true;
        return live.callTool(tool, call.args, options);
      },
      received: (_, outcome) => outcome as CallOutcome,
      failed: (call, error) =>
        call.isSent || server === undefined
          ? toGatewayFailure(error, call.isSent)
          : toFailure(error, { server, tool }),
    };
  }

  toNative(tool: NativeTool): Callee<NativeToolResult> {
    return {
      send: (call) => {
        const { callId, args, signal, onUpdate } = call;
        this.#reportStart(call);
        if (signal?.aborted) throw cancelled();
        return tool.execute(callId, args, signal, onUpdate);
      },
      received: (_, { details: __, ...outcome }) => outcome,
      failed: ({ signal }, error) =>
        toFailure(toPlugboardError(error, signal?.aborted ? "CANCELLED" : "TOOL_FAILED")),
    };
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

  #report({ callId, subject, started, now }: GuardedCall, outcome: CallOutcome): void {
    const isLogged = this.#logger !== silentLogger;
    const isHeard = this.#events.has("call");
    if (!isLogged && !isHeard) return;
    const { publicName: tool, source } = subject;
    const { failure, isError = false } = outcome;
    const durationMs = now - started;
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

/** A call finds out who runs its server before it is made, so this is the moment in between. */
function gatewayGone(): PlugboardError {
  const message = "the gateway has just gone away; the call was not sent";
  return new PlugboardError("SERVER_UNAVAILABLE", message, { hasNotRun: true, quote: "" });
}

function failureOf({ subject }: GuardedCall, error: unknown): CallOutcome {
  return toFailure(error, subject.source.kind === "mcp" ? subject.source : undefined);
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
  { callId, argsJson, signal, onUpdate, handlers, request }: GuardedCall,
  timeout: number,
  board: object,
): CallOptions {
  return {
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
