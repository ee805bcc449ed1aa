// One server of a gateway, for a board of this command. Speaks for the gateway's supervisor, and starts nothing itself. Calls
// and reads go to the gateway, which guards them.

import type { CallOptions, ServerIdentity } from "../../../core/types/connection.ts";
import type { ToldServer } from "../../../core/types/gateway-port.ts";
import { isJsonObject, type JsonObject, objectIn } from "../../../core/types/json.ts";
import type { ContentChange } from "../../../core/types/server-content.ts";
import type { ServerDefinition } from "../../../core/types/server-definition.ts";
import type { ServerLogMessage } from "../../../core/types/server-log.ts";
import type { ServerState } from "../../../core/types/server-state.ts";
import type {
  LiveServer,
  ServerSupervisor,
  SupervisorListener,
} from "../../../core/types/supervisor.ts";
import { abortSignalOf } from "../../../util/abort.ts";
import { within } from "../../../util/clock.ts";
import { stateFromWire, type WireServer } from "../wire.ts";
import type { Args, Method, Result } from "./ask.ts";
import type { GatewayServers } from "./gateway-servers.ts";

/** Callers wait this much longer than a server's timeout, so that they see the timeout as the server's error. */
const REPORT_MS = 500;
const UNKNOWN_IDENTITY: ServerIdentity = { protocolVersion: "", era: "modern" };
/** What is not known is left to the gateway, which refuses what the server does not have. */
const HAS_ALL = { resources: true, subscriptions: true, prompts: true, completions: true };

export class GatewayServer implements ServerSupervisor {
  readonly restarts = 0;
  readonly lastError = undefined;
  readonly stats = { snapshot: () => this.told.status.calls };
  definition!: ServerDefinition;
  state: ServerState = { kind: "idle" };
  told: ToldServer;
  readonly #gateway: GatewayServers;
  #listener: SupervisorListener | undefined;
  /** Another one for each time that the server becomes ready: what was known of the last one may be outdated. */
  #connection: GatewayConnection;

  constructor(told: ToldServer, gateway: GatewayServers) {
    this.told = told;
    this.#gateway = gateway;
    this.#connection = connectionTo(gateway, told.name);
  }

  supervise(definition: ServerDefinition, listener: SupervisorListener): this {
    this.definition = definition;
    this.#listener = listener;
    return this;
  }

  update({ state, ...told }: WireServer): void {
    const { tools, has, unpinned } = this.told;
    this.told = { ...told, tools: told.tools ?? tools, has: told.has ?? has };
    const isPinnedAnew = JSON.stringify(told.unpinned) !== JSON.stringify(unpinned);
    if (told.tools !== undefined || isPinnedAnew) this.#list();
    this.#move(stateFromWire(state));
  }

  /** The gateway has gone: the server is being started somewhere, or nobody runs it any more. */
  lost(state: ServerState & { kind: "starting" | "failed" }): void {
    if (this.state.kind === "disabled" || this.state.kind === "untrusted") return;
    this.told = { ...this.told, status: { ...this.told.status, pid: undefined } };
    this.#move(state);
  }

  /** It is no longer configured in the gateway. */
  removed(): void {
    if (this.state.kind === "stopped") return;
    this.told = { ...this.told, tools: [] };
    this.#list();
    this.#move({ kind: "stopped" });
  }

  event(event: string, value: JsonObject, board: object): void {
    const { change, uris, server: _, ...message } = value;
    if (event === "log") {
      this.#listener?.onLog({ ...(message as unknown as ServerLogMessage), board });
    } else if (event === "prompts" || change === "list") {
      this.#connection.changed({ kind: event === "prompts" ? "prompts" : "resources" });
    } else {
      for (const uri of uris as string[]) this.#connection.changed({ kind: "updated", uri });
    }
  }

  get live(): LiveServer | undefined {
    return this.state.kind === "ready" ? this.direct : undefined;
  }

  get direct(): LiveServer | undefined {
    return this.#gateway.isUsable ? this.#connection : undefined;
  }

  stderrTail(): string[] {
    return this.told.status.stderr;
  }

  /** What comes of it is told as a state. */
  async start(onlyToList = false): Promise<void> {
    const { kind } = this.state;
    if (kind === "ready" || kind === "disabled") return;
    await this.#gateway.ask("server/start", [this.told.name, onlyToList]).catch(() => {});
  }

  async attempt(onlyToList = false): Promise<void> {
    const { timeout } = this.definition;
    await within(this.#gateway.clock, timeout + REPORT_MS, this.start(onlyToList));
  }

  async acquire(signal?: AbortSignal): Promise<LiveServer> {
    await this.#gateway.ask("server/acquire", [this.told.name], { signal });
    return this.#connection;
  }

  /** The gateway counts the calls, and knows when the server is idle. */
  enter(): void {}
  leave(): void {}

  reconfigure(definition: ServerDefinition): void {
    this.definition = definition;
  }

  async refresh(): Promise<void> {
    await this.#gateway.ask("server/refresh", [this.told.name]).catch(() => {});
  }

  async restart(): Promise<void> {
    await this.#gateway.ask("server/restart", [this.told.name]);
  }

  async stop(): Promise<void> {
    await this.#gateway.ask("server/stop", [this.told.name]);
  }

  /** The server goes on for others. */
  async close(): Promise<void> {
    this.#listener = undefined;
  }

  #list(): void {
    const { tools, status } = this.told;
    if (tools === undefined || status.identity === undefined) return;
    this.#listener?.onTools({ tools, diagnostics: [], capabilities: {} }, status.identity);
  }

  #move(state: ServerState): void {
    const previous = this.state;
    if (JSON.stringify(previous) === JSON.stringify(state)) return;
    this.state = state;
    if (state.kind === "ready")
      this.#connection = connectionTo(this.#gateway, this.told.name, this);
    this.#listener?.onState(state, previous);
  }
}

type Known = Record<string, string>;

interface GatewayConnection extends LiveServer {
  changed(change: ContentChange): void;
}

/** What is asked of one server of the gateway. Answers are those of the gateway's guard. */
export function connectionTo(
  gateway: GatewayServers,
  server: string,
  supervisor?: Pick<GatewayServer, "told">,
): GatewayConnection {
  const listeners: ((change: ContentChange) => void)[] = [];
  const use = <Name extends Method>(
    member: Name,
    args: Args<Name>,
    request: Partial<CallOptions> & { known?: Known } = {},
  ): Promise<Result<Name>> => {
    const { board, callId, meta, input, clientCapabilities, known, onUpdate } = request;
    const signal = request.signal && abortSignalOf(request.signal);
    const given = { callId, meta, input, clientCapabilities, known, onUpdate, server, signal };
    return gateway.askIn(board, member, args, { ...given, ...request.handlers, ...request.by });
  };
  /** A list as the server itself has it. */
  const list = async <Item>(
    member: `session/${"resources/list" | "resources/templates" | "prompts/list"}`,
  ): Promise<Item[]> =>
    ((await use(member, [server])) as JsonObject[]).map((each) => {
      const { server: _, available: __, ...item } = each;
      return item as Item;
    });
  return {
    get identity() {
      return supervisor?.told.status.identity ?? UNKNOWN_IDENTITY;
    },
    changed: (change) => listeners.forEach((listener) => listener(change)),
    callTool: (tool, args, options) => use("session/call", [`${server}/${tool}`, args], options),
    content: {
      get has() {
        return supervisor?.told.has ?? HAS_ALL;
      },
      listResources: async () => ({
        resources: await list("session/resources/list"),
        templates: await list("session/resources/templates"),
        diagnostics: [],
      }),
      listPrompts: async () => ({ prompts: await list("session/prompts/list"), diagnostics: [] }),
      readResource: async (uri, request) => {
        const member = request.asksNobody
          ? "session/resources/readForPrompt"
          : "session/resources/read";
        return asAnswer(await use(member, [uri], request));
      },
      getPrompt: async (name, args, request) =>
        asAnswer(await use("session/prompts/get", [`${server}/${name}`, args], request)),
      complete: async ({ of, argument, value, known }, request) => {
        const [member, name] =
          of.type === "ref/prompt"
            ? (["session/prompts/complete", `${server}/${of.name}`] as const)
            : (["session/resources/complete", of.uri] as const);
        return { completion: await use(member, [name, argument, value], { ...request, known }) };
      },
      subscribe: async (uri, board) =>
        void (await use("session/resources/subscribe", [uri], { board })),
      unsubscribe: async (uri, board) =>
        void (await use("session/resources/unsubscribe", [uri], { board })),
      onChange: (listener) => void listeners.push(listener),
    },
  };
}

/** A reading or a prompt, as a server would answer with it. */
function asAnswer(result: unknown): JsonObject {
  const { inputRequired, ...answer } = objectIn(result);
  if (!isJsonObject(inputRequired)) return answer;
  return { resultType: "input_required", ...inputRequired };
}
