// A board served as MCP: answers the requests of any number of clients, in both eras of the protocol. stdio.ts and
// http/ carry the messages. Read this file first.

import type { JsonObject } from "../../core/types/json.ts";
import { toPlugboardError } from "../../core/types/errors.ts";
import { oneLine } from "../../util/text.ts";
import { Changes } from "./changes.ts";
import { Client, type ClientOptions, type Exchange, type Send } from "./client.ts";
import type { EndpointBoard, EndpointContext, EndpointOptions } from "./context.ts";
import { counted } from "./counted.ts";
import { LogMessages } from "./log-messages.ts";
import { type Answer, refuse, RPC, type RpcNotification, type RpcRequest } from "./message.ts";
import { ServedContent } from "./methods/content.ts";
import { discover, initialize, listen } from "./methods/lifecycle.ts";
import { SearchedTools } from "./methods/search-tools.ts";
import { isOwnResource } from "./methods/own-resources.ts";
import { callTool, ServedTools } from "./methods/tools.ts";
import { inEra, MODERN_VERSIONS } from "./protocol.ts";
import { ClientRoots } from "./questions/client-roots.ts";
import { HeldCalls } from "./questions/held-calls.ts";
import { SharedQuestions } from "./questions/shared-questions.ts";
import { Startup } from "./startup.ts";
import { subscriptionShares } from "./subscriptions.ts";
import { type CallSpan, joinTrace, type TraceContext, traceInMeta } from "./spans.ts";

/** Asked with every call, so the names are kept until a server comes or goes. */
function serverNames(board: Pick<EndpointBoard, "status" | "on">): () => ReadonlySet<string> {
  let known: ReadonlySet<string> | undefined;
  const forget = (): void => {
    known = undefined;
  };
  board.on("server", forget);
  board.on("tools", forget);
  return () => (known ??= new Set(board.status().map(({ name }) => name)));
}

type Method = (exchange: Exchange) => Answer | Promise<Answer>;

export class Endpoint {
  readonly #context: EndpointContext;
  readonly #methods: Record<"legacy" | "modern", ReadonlyMap<string, Method>>;
  readonly #logs: LogMessages;
  readonly #startup: Startup;
  readonly #tools: ServedTools;
  /** Stands for the tools, where clients search for them. */
  readonly #searched: SearchedTools | undefined;
  readonly #content: ServedContent;
  readonly #clients = new Map<Client, () => void>();
  readonly #listening = new Set<() => void>();
  readonly #roots: ClientRoots | undefined;
  /** Servers that were started anew, until a result of theirs has said so. */
  readonly #anew = new Set<string>();

  constructor(options: EndpointOptions) {
    const { board, clock, newId, onRoots } = options;
    this.#roots = onRoots && new ClientRoots(onRoots, clock);
    const names = serverNames(board);
    const namesServer = (): boolean => names().size > 1;
    const hasServer = (name: string): boolean => names().has(name);
    const shares = options.subscriptionShares ?? subscriptionShares(options.isForMany);
    const given = { ...options, subscriptionShares: shares, namesServer, hasServer };
    const content = new ServedContent(given);
    const { subscriptions } = content;
    this.#content = content;
    this.#logs = new LogMessages(board, namesServer, options.mayLogForOthers);
    this.#startup = new Startup(board, clock);
    this.#context = {
      ...given,
      changes: new Changes(board, clock, (server, uri) => subscriptions.urisOf(server, uri)),
      subscriptions,
      held: new HeldCalls(clock, newId, options.isForMany),
      shared: new SharedQuestions(namesServer, options.isForMany === true),
      waiting: new Map(),
      namesServer,
      hasServer,
      serverOf: (tool) => this.#tools.serverOf(tool),
      listening: (end) => {
        this.#listening.add(end);
        return () => this.#listening.delete(end);
      },
    };
    this.#tools = new ServedTools(this.#context);
    if (options.search) {
      const settled = (): Promise<void> | undefined => this.#startup.before("tools/list");
      this.#searched = new SearchedTools(this.#context, this.#tools, settled);
    }
    this.#methods = this.#describeMethods();
  }

  /** Adds a client, which then hears of changes and log messages. */
  connect(options: ClientOptions): Client {
    const client = new Client(options);
    const off = this.#context.changes.add({
      interests: {
        // A list of the four tools that search does not change.
        tools: this.#searched === undefined,
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

  /** A client is gone: its subscriptions end, its calls are cancelled. Resolves when all of them are. */
  disconnect(client: Client): Promise<void> {
    this.#clients.get(client)?.();
    this.#clients.delete(client);
    const gone = client.gone();
    for (const uri of client.subscriptions) {
      this.#context.subscriptionShares.giveBack(client.caller.id);
      void this.#content.subscriptions.remove(uri);
    }
    client.subscriptions.clear();
    return gone;
  }

  /**
   * Answers one request. Never rejects. `send` takes what belongs to this request; `inHeaders` is the trace context of
   * the HTTP request that it came with. Not async, like the other steps on the way of a call that only pass a promise
   * on: each would cost three turns of the queue of promises.
   */
  answer(
    client: Client,
    request: RpcRequest,
    send: Send,
    inHeaders?: TraceContext,
  ): Promise<Answer> {
    const { era } = client;
    const method = this.#methods[era].get(request.method);
    if (method === undefined) {
      const message = `Method not found: ${oneLine(request.method, 200)}`;
      return Promise.resolve(refuse(RPC.methodNotFound, message));
    }
    const inMeta = traceInMeta(request.params);
    const exchange = client.begin(request, send, joinTrace(inMeta, inHeaders));
    if (exchange === undefined) {
      return Promise.resolve(
        refuse(RPC.invalidRequest, "Invalid Request: a request with this id is under way"),
      );
    }
    const span = this.#context.spans?.begin(
      request,
      { inMeta, inHeaders },
      {
        protocolVersion: era === "modern" ? MODERN_VERSIONS[0] : client.profile.protocolVersion,
        server: this.#tools.serverOf(
          this.#searched?.calledName(request.params) ?? request.params["name"],
        ),
      },
    );
    return span === undefined
      ? this.#run(method, exchange)
      : this.#runInSpan(span, method, exchange);
  }

  async #runInSpan(span: CallSpan, method: Method, exchange: Exchange): Promise<Answer> {
    exchange.trace = span.carried;
    const answer = await span.run(() => this.#run(method, exchange));
    span.end(answer, exchange.failure);
    return answer;
  }

  async #run(method: Method, exchange: Exchange): Promise<Answer> {
    const { client, request } = exchange;
    const stopLogs = this.#logs.watch(exchange);
    this.#roots?.askIfDue(client, exchange);
    try {
      const isFixed = this.#searched !== undefined && request.method === "tools/list";
      const starting = isFixed
        ? undefined
        : isOwnResource(request.params["uri"])
          ? this.#startup.beforeOwnResource()
          : this.#startup.before(request.method);
      if (starting !== undefined) await starting;
      const answer = await method(exchange);
      return "result" in answer
        ? { result: inEra(client.era, request.method, answer.result) }
        : answer;
    } catch (error) {
      const { message } = toPlugboardError(error, "PROTOCOL");
      this.#context.logger.error("a request failed", { method: request.method, reason: message });
      return refuse(RPC.internalError, "Internal error");
    } finally {
      stopLogs?.();
      client.end(request.id);
    }
  }

  /** Tells the client of a call what the call waits for, if it wants to know. For `questions: "board"`. */
  sayWaiting(callId: string, message: string): void {
    this.#context.waiting.get(callId)?.(message);
  }

  /** The schema of a tool's arguments, as its server wrote it. */
  inputSchema(tool: string): JsonObject | undefined {
    return this.#tools.inputSchema(tool);
  }

  /**
   * Restores the log level and the subscriptions that a client had before its session was idle. Subscriptions to
   * resources that are gone are left out.
   */
  async restore(
    client: Client,
    logLevel: string | undefined,
    uris: readonly string[],
  ): Promise<void> {
    this.#roots?.changed(client);
    await this.follow(client, logLevel, uris);
  }

  /** The client has this log level and these subscriptions from now on: it has set them elsewhere. */
  async follow(
    client: Client,
    logLevel: string | undefined,
    uris: readonly string[],
  ): Promise<void> {
    if (logLevel !== undefined) this.#logs.restore(client, logLevel);
    const { subscriptionShares: shares } = this.#context;
    for (const uri of client.subscriptions) {
      if (uris.includes(uri)) continue;
      client.subscriptions.delete(uri);
      shares.giveBack(client.caller.id);
      void this.#content.subscriptions.remove(uri);
    }
    for (const uri of uris) {
      if (client.subscriptions.has(uri)) continue;
      if (shares.take(client.caller.id) !== undefined) return;
      const isThere = await this.#content.subscriptions.add(uri).then(
        () => true,
        () => false,
      );
      if (isThere) client.subscriptions.add(uri);
      else shares.giveBack(client.caller.id);
    }
  }

  /** Takes a notification. Unknown ones are dropped. False if it is about a request that is not under way here. */
  notified(client: Client, { method, params }: RpcNotification): boolean {
    if (method === "notifications/cancelled") return client.cancel(params["requestId"]);
    if (method === "notifications/initialized" || method === "notifications/roots/list_changed") {
      this.#roots?.changed(client);
    }
    return true;
  }

  /** The session goes on, and these servers, which are its own, start anew: the next result of each says so. */
  startAnew(servers: readonly string[]): void {
    for (const each of servers) this.#anew.add(each);
  }

  /** The client can be asked now, without a request of its own. */
  reachable(client: Client): void {
    this.#roots?.askIfDue(client);
  }

  /** Ends every stream of changes properly. Calls go on until the board is closed. */
  close(): void {
    for (const end of this.#listening) end();
    this.#context.held.close();
    this.#context.changes.close();
    this.#logs.close();
  }

  /** What a quota counts besides calls of tools. What the board says about itself is free. */
  #counted(method: Method): Method {
    const { countCall } = this.#context;
    if (countCall === undefined) return method;
    return (exchange) =>
      isOwnResource(exchange.request.params["uri"])
        ? method(exchange)
        : counted(
            exchange,
            countCall,
            () => method(exchange),
            (text) => refuse(RPC.internalError, text, { code: "RATE_LIMITED" }),
          );
  }

  /** With a last line about its server, if that has lost what it had kept for the session. */
  async #sayAnew({ request }: Exchange, answering: Answer | Promise<Answer>): Promise<Answer> {
    const answer = await answering;
    const { params } = request;
    const server = this.#tools.serverOf(this.#searched?.calledName(params) ?? params["name"]);
    const content: unknown = "result" in answer ? answer.result["content"] : undefined;
    if (server === undefined || !("result" in answer) || !Array.isArray(content)) return answer;
    if (!this.#anew.delete(server)) return answer;
    const text = `(Plugboard: the server '${server}' was started anew for this session. What it had kept from before, such as what was open in it, is gone.)`;
    return { result: { ...answer.result, content: [...content, { type: "text", text }] } };
  }

  #describeMethods(): Record<"legacy" | "modern", ReadonlyMap<string, Method>> {
    const context = this.#context;
    const content = this.#content;
    const common: [string, Method][] = [
      ["tools/list", (exchange) => this.#searched?.list() ?? this.#tools.list(exchange)],
      [
        "tools/call",
        (exchange) => {
          const answer =
            this.#searched?.answer(exchange) ??
            this.#tools.refusal(exchange) ??
            callTool(exchange, context);
          return this.#anew.size === 0 ? answer : this.#sayAnew(exchange, answer);
        },
      ],
      ["resources/list", (exchange) => content.listResources(exchange)],
      ["resources/templates/list", (exchange) => content.listTemplates(exchange)],
      ["resources/read", this.#counted((exchange) => content.read(exchange))],
      ["prompts/list", (exchange) => content.listPrompts(exchange)],
      ["prompts/get", this.#counted((exchange) => content.getPrompt(exchange))],
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
