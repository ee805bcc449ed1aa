// Resource reads and prompt requests as guarded calls: what each is about, and what its failure says. The rules for them
// name resources or prompts.

import { toCompletion } from "../../tools/server-content.ts";
import { toInputRequired } from "../../tools/outcome.ts";
import type { CallerOptions } from "../../types/caller-options.ts";
import type { CallerRequest } from "../../types/connection.ts";
import type { ContentName } from "../../types/content-pattern.ts";
import { cancelled, invalidRequest, PlugboardError, toPlugboardError } from "../../types/errors.ts";
import type { Callee } from "../../types/guard.ts";
import type { JsonObject } from "../../types/json.ts";
import { FLAG, OBJECT, requireKind, requireOptions, SIGNAL, TEXT } from "../../types/kinds.ts";
import type { CompleteOptions, Completion, ListOptions } from "../../types/resource.ts";
import type { GatewayPort } from "../../types/gateway-port.ts";
import type { CompletionQuery, ServerContent } from "../../types/server-content.ts";
import type { CallOutcome } from "../../types/tool.ts";
import { type CallSignal, untilAborted } from "../../../util/abort.ts";
import { oneLine } from "../../../util/text.ts";
import type { Calls } from "../calls.ts";
import type { BoardGuard } from "../guard.ts";
import type { ContentCache } from "./content-cache.ts";
import type { ContentCaches } from "./content-caches.ts";
import { contentSubject, type Listed } from "./content-subject.ts";

/**
 * More than the URI of anything that a server lists. Rules compare a name in each way that it can be read, which of a megabyte
 * takes a second.
 */
const LONGEST_NAME = 8192;

/** Throws INVALID_ARGUMENTS. Comes before anything looks at the name: also for who may not read what it names. */
export function requireName(what: string, name: string): void {
  requireKind(what, name, TEXT);
  if (name.length <= LONGEST_NAME) return;
  throw invalidRequest(`${what} is longer than ${LONGEST_NAME} characters`);
}

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
  /** Sends the request. `args` are the arguments as they were approved. */
  ask: (content: ServerContent, request: CallerRequest, args: JsonObject) => Promise<CallOutcome>;
}

/** What the resources and the prompts of a board work with. */
export interface ContentOptions {
  caches: ContentCaches;
  /** The servers that a gateway runs, if there is one. */
  gateway: Pick<GatewayPort, "settled"> | undefined;
  requests: ContentRequests;
  guard: Pick<
    BoardGuard,
    "framing" | "askedFraming" | "reportSuspicious" | "allows" | "offers" | "leaves"
  >;
  /** Removes secrets; returns the same value if there are none. */
  redact: <Value>(value: Value) => Value;
  /** Whether what the rules refuse is answered as if there were no such thing. */
  hidesRefused: boolean;
}

export interface ContentRequestsOptions {
  calls: Pick<Calls, "around" | "run" | "toServer">;
  guard: Pick<BoardGuard, "needsList" | "recheckContent">;
}

export class ContentRequests {
  readonly #options: ContentRequestsOptions;

  constructor(options: ContentRequestsOptions) {
    this.#options = options;
  }

  /** Rejects only with a PlugboardError. */
  run(request: BoardContentRequest): Promise<CallOutcome> {
    const { from, content, what, listed, args, given = {}, asksNobody } = request;
    const { calls } = this.#options;
    const shown = what.slice(what.indexOf(":") + 1);
    const subject = contentSubject(from.entry, content, { what, shown, listed });
    const guarded = calls.around(subject, () => ({ callee: this.#callee(request), asksNobody }));
    return calls.run({ subject, guarded }, args, given);
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

  #callee(request: BoardContentRequest): Callee<CallOutcome> {
    const { from, content, what, given, timeout, asksNobody, ask } = request;
    const { supervisor, name } = from.entry;
    return this.#options.calls.toServer(supervisor, {
      confirm: async (call) => {
        await this.#requireList(from, content, call.signal);
        await this.#options.guard.recheckContent(call);
      },
      send: (connection, { args, caller, approvalsOf, onApproval }, options) => {
        const sent = {
          ...options,
          by: { caller, approvalsOf, onApproval },
          asksNobody,
          // A question names the call that it is a part of, if the caller has told of one.
          callId: given?.callId,
          timeout: Math.min(options.timeout, timeout ?? Infinity),
        };
        return ask(connection.content, sent, args);
      },
      received: (_, outcome) => outcome,
      failed: (_, error) => {
        const reason = toPlugboardError(error, "PROTOCOL");
        // A gateway has named them already.
        throw from.entry.inGateway ? reason : withRequestName(reason, name, what);
      },
    });
  }

  /** A name needs no list to be found, but only a list tells whether what it names has changed. */
  async #requireList(
    from: ContentCache,
    { kind }: ContentName,
    signal: CallSignal | undefined,
  ): Promise<void> {
    const list = kind === "prompt" ? from.prompts : from.resources;
    if (list.known !== undefined || !this.#options.guard.needsList(from.entry)) return;
    await untilAborted<unknown>(list.fresh(), signal, cancelled);
  }
}

/**
 * Asks servers for something that changes nothing. If a gateway goes away meanwhile, whoever runs the servers then is
 * asked again.
 */
export async function askServers<Result>(
  { gateway }: Pick<ContentOptions, "gateway">,
  signal: AbortSignal | undefined,
  ask: () => Promise<Result>,
): Promise<Result> {
  for (;;) {
    await gateway?.settled(signal);
    try {
      return await ask();
    } catch (error) {
      if (gateway?.settled(signal) === undefined) throw error;
    }
  }
}

/** `unknown` makes the very answer that any other name gets. */
export async function hidingRefused<Result>(
  { hidesRefused }: Pick<ContentOptions, "hidesRefused">,
  ask: () => Promise<Result>,
  unknown: () => Promise<PlugboardError>,
): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    const isRefused = error instanceof PlugboardError && error.code === "REFUSED_BY_POLICY";
    throw hidesRefused && isRefused ? await unknown() : error;
  }
}

/** The answer to a request, if the server wants answers first. */
export function asksFirst(
  answer: unknown,
  { input }: CallerRequest,
): Pick<CallOutcome, "content" | "inputRequired"> | undefined {
  const inputRequired = input === undefined ? undefined : toInputRequired(answer);
  return inputRequired && { content: [], inputRequired };
}

/** Throws INVALID_ARGUMENTS. */
export function requireListing(server: string | undefined, options: ListOptions): void {
  if (server !== undefined) requireKind("the name of the server", server, TEXT);
  requireOptions<ListOptions & { signal?: AbortSignal }>(options, { wait: FLAG, signal: SIGNAL });
}

/** Throws INVALID_ARGUMENTS. */
export function requireCompletion(
  argument: string,
  value: string,
  options: Pick<CompleteOptions, "known" | "signal">,
): void {
  requireKind("the argument", argument, TEXT);
  requireKind("the value", value, TEXT);
  requireOptions(options, { known: OBJECT, signal: SIGNAL });
}

/** Throws UNSUPPORTED. */
export function requireCapability({ has }: ServerContent, what: keyof ServerContent["has"]): void {
  if (!has[what]) throw new PlugboardError("UNSUPPORTED", `the server does not support ${what}`);
}

/** Adds the server and the request to the message, unless it names them already. */
function withRequestName(error: PlugboardError, server: string, what: string): PlugboardError {
  const { code } = error;
  if (error.namesServer || code === "CANCELLED" || code === "CHANGED_TOOL") return error;
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
