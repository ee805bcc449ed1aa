// Sends resource reads and prompt requests to a server. They go through the guard like tool calls, with the rules that
// name resources or prompts. They start the server if needed, keep it from being idle, and have its `toolTimeout`.

import { randomUUID } from "node:crypto";
import { toCompletion } from "../../tools/completion.ts";
import { toInputRequired } from "../../tools/outcome.ts";
import type { CallerOptions } from "../../types/caller-options.ts";
import type { ContentName } from "../../types/content-pattern.ts";
import { cancelled, PlugboardError, toPlugboardError } from "../../types/errors.ts";
import type { Callee, GuardedCall } from "../../types/guard.ts";
import type { JsonObject } from "../../types/json.ts";
import type { RequestHandlers } from "../../types/request-handlers.ts";
import type { Completion } from "../../types/resource.ts";
import type { ServerDefinition } from "../../types/server-definition.ts";
import type { SharedServers } from "../../types/shared-servers.ts";
import type { CompletionQuery, ContentRequest, ServerContent } from "../../types/server-content.ts";
import type { CallOutcome } from "../../types/tool.ts";
import { untilAborted } from "../../../util/abort.ts";
import type { Clock } from "../../../util/clock.ts";
import { oneLine } from "../../../util/text.ts";
import { requireShallowRequest } from "../calls.ts";
import type { BoardGuard } from "../guard.ts";
import type { ContentCache } from "./content-cache.ts";
import type { ContentCaches } from "./content-caches.ts";
import { contentSubject, type Listed } from "./content-subject.ts";

export interface BoardContentRequest {
  /** What is known of its server. */
  from: ContentCache;
  /** What the request is about. */
  content: ContentName;
  /** For the audit and for messages: `resource:file:///notes.txt` for a read. */
  what: string;
  /** What its server says about it, as far as that is known. */
  listed?: Listed | undefined;
  args: JsonObject;
  /** What the caller gives with it. Its `callId` may be the id of a call that this is a part of. */
  given?: CallerOptions | undefined;
  /**
   * Only rules apply, no limits and no approval. For the host's own reads, and for requests whose answer is not the
   * resource or prompt itself.
   */
  asksNobody?: boolean;
  /** Milliseconds, if the server's own `toolTimeout` is too long. */
  timeout?: number;
  ask: (content: ServerContent, request: ContentRequest) => Promise<CallOutcome>;
}

/** What the resources and the prompts of a board work with. */
export interface ContentOptions {
  caches: ContentCaches;
  /** The servers that a gateway runs, if there is one. */
  shared: Pick<SharedServers, "settled"> | undefined;
  requests: ContentRequests;
  guard: Pick<BoardGuard, "framing" | "askedFraming" | "reportSuspicious" | "allows" | "offers">;
  /** Removes secrets; returns the same value if there are none. */
  redact: <Value>(value: Value) => Value;
}

type RequestGuard = Pick<BoardGuard, "aroundContent" | "needsList" | "recheckContent">;

export interface ContentRequestsOptions {
  guard: RequestGuard;
  clock: Clock;
  /** Identifies the board to its servers. */
  board: object;
  /** A session's: a shared server would ask those of the agent. */
  handlers?: RequestHandlers | undefined;
  /** How long a request to the server may take, in milliseconds. */
  timeoutOf: (definition: ServerDefinition) => number;
}

export class ContentRequests {
  readonly #guard: RequestGuard;
  readonly #clock: Clock;
  readonly #board: object;
  readonly #handlers: RequestHandlers;
  readonly #timeoutOf: ContentRequestsOptions["timeoutOf"];

  constructor({ guard, clock, board, handlers = {}, timeoutOf }: ContentRequestsOptions) {
    this.#guard = guard;
    this.#clock = clock;
    this.#board = board;
    this.#handlers = handlers;
    this.#timeoutOf = timeoutOf;
  }

  /** Rejects only with a PlugboardError. */
  async run(request: BoardContentRequest): Promise<CallOutcome> {
    const { from, content, what, listed, args, given = {}, asksNobody = false } = request;
    requireShallowRequest(given);
    const shown = what.slice(what.indexOf(":") + 1);
    const subject = contentSubject(from.entry, content, { what, shown, listed });
    const callee: Callee<CallOutcome> = {
      send: (call) => this.#ask(request, call),
      received: (_, outcome) => outcome,
      failed: (_, error) => {
        throw error;
      },
    };
    const guarded = this.#guard.aroundContent(subject, callee, asksNobody);
    const now = this.#clock.monotonic();
    return guarded({
      callId: given.callId ?? randomUUID(),
      subject,
      args,
      started: now,
      now,
      signal: given.signal,
      caller: given.caller,
      onApproval: given.onApproval,
      approvalsOf: given.approvalsOf,
      onUpdate: undefined,
      decision: { verdict: "allowed" },
      audit: undefined,
      argsJson: undefined,
      reached: now,
      isSent: false,
    });
  }

  async complete(
    from: ContentCache,
    query: CompletionQuery,
    signal: AbortSignal | undefined,
  ): Promise<Completion> {
    const { of, argument, value } = query;
    const content: ContentName =
      of.type === "ref/prompt"
        ? { kind: "prompt", name: of.name }
        : { kind: "resource", name: of.uri, isTemplate: true };
    const { structuredContent } = await this.run({
      from,
      content,
      what: `complete:${content.name}`,
      args: { argument, value },
      given: { signal },
      asksNobody: true,
      ask: async (server, request) => {
        requireCapability(server, "completions");
        const answer = await server.complete(query, request);
        return { content: [], structuredContent: toCompletion(answer) };
      },
    });
    return structuredContent as Completion;
  }

  async #ask(
    { from, content, what, given = {}, timeout, asksNobody, ask }: BoardContentRequest,
    call: GuardedCall,
  ): Promise<CallOutcome> {
    const { supervisor, definition } = from.entry;
    const { callId, signal, meta, input, clientCapabilities } = given;
    const { caller, approvalsOf, onApproval } = given;
    const started = this.#clock.monotonic();
    let failed = true;
    supervisor.enter();
    try {
      const connection = supervisor.direct ?? (await supervisor.acquire(signal));
      await this.#requireList(from, content, signal);
      await this.#guard.recheckContent(call);
      const outcome = await ask(connection.content, {
        timeout: Math.min(this.#timeoutOf(definition), timeout ?? Infinity),
        callId,
        board: this.#board,
        by: { caller, approvalsOf, onApproval },
        asksNobody,
        signal,
        handlers: this.#handlersOf(given),
        meta,
        input,
        clientCapabilities,
      });
      failed = false;
      return outcome;
    } catch (error) {
      const reason = toPlugboardError(error, "PROTOCOL");
      // A gateway has named them already.
      throw from.entry.isShared ? reason : withRequestName(reason, definition.name, what);
    } finally {
      supervisor.leave(this.#clock.monotonic() - started, failed);
    }
  }

  /** A name needs no list to be found, but only a list tells whether what it names has changed. */
  async #requireList(
    from: ContentCache,
    { kind }: ContentName,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const list = kind === "prompt" ? from.prompts : from.resources;
    if (list.known !== undefined || !this.#guard.needsList(from.entry)) return;
    await untilAborted<unknown>(list.fresh(), signal, cancelled);
  }

  #handlersOf({ onElicitation, onSampling }: CallerOptions): RequestHandlers | undefined {
    const handlers = {
      onElicitation: onElicitation ?? this.#handlers.onElicitation,
      onSampling: onSampling ?? this.#handlers.onSampling,
    };
    return handlers.onElicitation || handlers.onSampling ? handlers : undefined;
  }
}

/**
 * Asks servers for something that changes nothing. If a gateway goes away meanwhile, whoever runs the servers then is
 * asked again.
 */
export async function askServers<Result>(
  { shared }: Pick<ContentOptions, "shared">,
  signal: AbortSignal | undefined,
  ask: () => Promise<Result>,
): Promise<Result> {
  for (;;) {
    await shared?.settled(signal);
    try {
      return await ask();
    } catch (error) {
      if (shared?.settled(signal) === undefined) throw error;
    }
  }
}

/** The answer to a request, if the server wants answers first. */
export function asksFirst(
  answer: unknown,
  { input }: ContentRequest,
): Pick<CallOutcome, "content" | "inputRequired"> | undefined {
  const inputRequired = input === undefined ? undefined : toInputRequired(answer);
  return inputRequired && { content: [], inputRequired };
}

/** Throws UNSUPPORTED. */
export function requireCapability({ has }: ServerContent, what: keyof ServerContent["has"]): void {
  if (!has[what]) throw new PlugboardError("UNSUPPORTED", `the server does not support ${what}`);
}

/** Adds the server and the request to the message, unless it names them already. */
function withRequestName(error: PlugboardError, server: string, what: string): PlugboardError {
  const { code } = error;
  const isNamed = error.message.startsWith(`server '${server}' `);
  if (isNamed || code === "CANCELLED" || code === "CHANGED_TOOL") return error;
  const message = `server '${server}': ${attempt(what)}: ${error.message}`;
  return new PlugboardError(error.code, message, {
    cause: error,
    server,
    hint: error.hint,
    status: error.status,
  });
}

/** `resource:file:///notes.txt` becomes `cannot read 'file:///notes.txt'`. */
function attempt(what: string): string {
  const colon = what.indexOf(":");
  const subject = `'${oneLine(what.slice(colon + 1), 200)}'`;
  switch (what.slice(0, colon)) {
    case "resource":
      return `cannot read ${subject}`;
    case "subscribe":
      return `cannot subscribe to ${subject}`;
    case "prompt":
      return `cannot get the prompt ${subject}`;
    default:
      return `cannot complete an argument of ${subject}`;
  }
}
