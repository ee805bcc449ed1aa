// A board served as MCP: answers the requests of any number of clients, in both eras of the protocol. How messages
// travel is the matter of stdio.ts and http/. Read this file first.

import type { AskApproval } from "../model/approval.ts";
import type { BoardBase } from "../model/board.ts";
import type { JsonObject } from "../model/json.ts";
import type { Logger } from "../model/logger.ts";
import { toPlugboardError } from "../model/errors.ts";
import type { Clock } from "../util/clock.ts";
import { Changes } from "./changes.ts";
import { Client, type ClientOptions, type Exchange, type Send } from "./client.ts";
import { LogMessages } from "./log-messages.ts";
import { type Answer, refuse, RPC, type RpcNotification, type RpcRequest } from "./message.ts";
import { ServedContent } from "./methods/content.ts";
import { discover, initialize, listen } from "./methods/lifecycle.ts";
import { callTool, ServedTools } from "./methods/tools.ts";
import { inEra, MODERN_VERSIONS } from "./protocol.ts";
import { HeldCalls } from "./questions/held-calls.ts";
import type { Sealer } from "./sealed.ts";
import { joinTrace, type Spans, type TraceContext, traceInMeta } from "./trace.ts";

/** What an endpoint needs of a board: an agent's, a session's, or one in another process. */
export type EndpointBoard = Pick<
  BoardBase,
  "tools" | "call" | "resources" | "prompts" | "status" | "instructions" | "setLogLevel" | "on"
>;

export interface EndpointOptions {
  board: EndpointBoard;
  /** Seals what a client has to bring back. */
  sealer: Sealer;
  /** Makes ids that nobody can guess. */
  newId: () => string;
  clock: Clock;
  logger: Logger;
  /** Decides about calls that need approval where the client cannot ask its user. Absent: they are refused. */
  onApproval?: AskApproval;
  /** Makes a span of each call. */
  spans?: Spans;
}

/** What the methods share. */
export interface EndpointContext extends EndpointOptions {
  readonly changes: Changes;
  readonly content: ServedContent;
  readonly held: HeldCalls;
  /** Whether people must be told which server says something: not where there is only one. */
  readonly namesServer: () => boolean;
  /** Calls `end` when the endpoint closes. Returns a function that forgets it. */
  readonly listening: (end: () => void) => () => void;
}

/** Asked with every call, so the answer is kept until a server comes or goes. */
function severalServers(board: Pick<EndpointBoard, "status" | "on">): () => boolean {
  let known: boolean | undefined;
  board.on("server", () => {
    known = undefined;
  });
  return () => (known ??= board.status().length > 1);
}

type Method = (exchange: Exchange) => Answer | Promise<Answer>;

export class Endpoint {
  readonly #context: EndpointContext;
  readonly #methods: Record<"legacy" | "modern", ReadonlyMap<string, Method>>;
  readonly #logs: LogMessages;
  readonly #tools: ServedTools;
  readonly #clients = new Map<Client, () => void>();
  readonly #listening = new Set<() => void>();

  constructor(options: EndpointOptions) {
    const { board, clock, newId } = options;
    const changes = new Changes(board, (server, uri) =>
      this.#context.content.servedUri(server, uri),
    );
    this.#logs = new LogMessages(board);
    const context = {
      ...options,
      changes,
      held: new HeldCalls(clock, newId),
      namesServer: severalServers(board),
      listening: (end: () => void) => {
        this.#listening.add(end);
        return () => this.#listening.delete(end);
      },
    };
    // The content is a part of the context that it needs itself.
    this.#context = Object.assign(context, { content: undefined as unknown as ServedContent });
    Object.assign(context, { content: new ServedContent(this.#context) });
    this.#tools = new ServedTools(context);
    this.#methods = this.#describeMethods();
  }

  /** A client has come. */
  connect(options: ClientOptions): Client {
    const client = new Client(options);
    const off = this.#context.changes.add({
      interests: {
        tools: true,
        prompts: true,
        resources: true,
        hasUri: (uri) => client.subscriptions.has(uri),
      },
      // In 2026-07-28 a client hears of changes only through `subscriptions/listen`.
      send: (message) => client.era === "legacy" && client.send(message),
    });
    const offLogs = this.#logs.add(client);
    this.#clients.set(client, () => {
      off();
      offLogs();
    });
    return client;
  }

  /** A client is gone: its calls are cancelled, its subscriptions end. */
  disconnect(client: Client): void {
    this.#clients.get(client)?.();
    this.#clients.delete(client);
    client.gone();
    for (const uri of client.subscriptions) void this.#context.content.removeSubscription(uri);
    client.subscriptions.clear();
  }

  /**
   * Answers one request. Never rejects. `send` takes what belongs to this request; `inHeaders` is the trace context of
   * the HTTP request that it came with.
   */
  async answer(
    client: Client,
    request: RpcRequest,
    send: Send,
    inHeaders?: TraceContext,
  ): Promise<Answer> {
    const { era } = client;
    const method = this.#methods[era].get(request.method);
    if (method === undefined)
      return refuse(RPC.methodNotFound, `Method not found: ${request.method}`);
    const inMeta = traceInMeta(request.params);
    const exchange = client.begin(request, send, joinTrace(inMeta, inHeaders));
    if (exchange === undefined) {
      return refuse(RPC.invalidRequest, "Invalid Request: a request with this id is under way");
    }
    const span = this.#context.spans?.begin(
      request,
      { inMeta, inHeaders },
      {
        protocolVersion: era === "modern" ? MODERN_VERSIONS[0] : client.profile.protocolVersion,
        server: this.#tools.serverOf(request.params["name"]),
      },
    );
    if (span === undefined) return this.#run(method, exchange);
    exchange.trace = span.carried;
    const answer = await span.run(() => this.#run(method, exchange));
    span.end(answer, exchange.failure);
    return answer;
  }

  async #run(method: Method, exchange: Exchange): Promise<Answer> {
    const { client, request } = exchange;
    try {
      const answer = await method(exchange);
      return "result" in answer
        ? { result: inEra(client.era, request.method, answer.result) }
        : answer;
    } catch (error) {
      const { message } = toPlugboardError(error, "PROTOCOL");
      this.#context.logger.error("a request failed", { method: request.method, reason: message });
      return refuse(RPC.internalError, "Internal error");
    } finally {
      client.end(request.id);
    }
  }

  /** The schema of a tool's arguments, as its server wrote it. */
  inputSchema(tool: string): JsonObject | undefined {
    return this.#tools.inputSchema(tool);
  }

  /** Gives a client back what it had set before it was put away. What cannot be had any more is left out. */
  async restore(
    client: Client,
    logLevel: string | undefined,
    uris: readonly string[],
  ): Promise<void> {
    if (logLevel !== undefined) this.#logs.restore(client, logLevel);
    for (const uri of uris) {
      const isThere = await this.#context.content.addSubscription(uri).then(
        () => true,
        () => false,
      );
      if (isThere) client.subscriptions.add(uri);
    }
  }

  /** Takes a notification; one that is not known is dropped. */
  notified(client: Client, { method, params }: RpcNotification): void {
    if (method === "notifications/cancelled") client.cancel(params["requestId"]);
  }

  /** Ends every stream of changes properly. Calls go on; the board's owner ends them with the board. */
  close(): void {
    for (const end of this.#listening) end();
    this.#context.held.close();
    this.#context.changes.close();
    this.#logs.close();
  }

  #describeMethods(): Record<"legacy" | "modern", ReadonlyMap<string, Method>> {
    const context = this.#context;
    const { content } = context;
    const common: [string, Method][] = [
      ["tools/list", (exchange) => this.#tools.list(exchange)],
      ["tools/call", (exchange) => callTool(exchange, context)],
      ["resources/list", (exchange) => content.listResources(exchange)],
      ["resources/templates/list", (exchange) => content.listTemplates(exchange)],
      ["resources/read", (exchange) => content.read(exchange)],
      ["prompts/list", (exchange) => content.listPrompts(exchange)],
      ["prompts/get", (exchange) => content.getPrompt(exchange)],
      ["completion/complete", (exchange) => content.complete(exchange)],
    ];
    return {
      legacy: new Map<string, Method>([
        ...common,
        ["initialize", (exchange) => initialize(exchange, context)],
        ["ping", () => ({ result: {} })],
        ["logging/setLevel", (exchange) => this.#logs.setLevel(exchange)],
        ["resources/subscribe", (exchange) => content.subscribe(exchange)],
        ["resources/unsubscribe", (exchange) => content.unsubscribe(exchange)],
      ]),
      modern: new Map<string, Method>([
        ...common,
        ["server/discover", () => discover(context)],
        ["subscriptions/listen", (exchange) => listen(exchange, context)],
      ]),
    };
  }
}
