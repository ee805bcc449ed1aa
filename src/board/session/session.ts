// A session's board: its own servers beside those of the agent's board that it is laid over, under a guard of
// its own.

import { toFailure } from "../../bridge/failure.ts";
import { parseSessionServers } from "../../config/session.ts";
import { type ServerGuards, serverGuards } from "../../guard/server-guards.ts";
import {
  processWarning,
  type Selection,
  selectServers,
  selectTools,
  type SessionLimits,
} from "../../guard/session-limits.ts";
import type { AgentConfig } from "../../model/agent-config.ts";
import type { BoardCallOptions } from "../../model/board-use.ts";
import type { BoardOptions } from "../../model/board-options.ts";
import { PlugboardError } from "../../model/errors.ts";
import type { BoardEvents } from "../../model/events.ts";
import { isOffered } from "../../model/include.ts";
import type { JsonObject } from "../../model/json.ts";
import type { BoardPrompts } from "../../model/prompt.ts";
import type { BoardResources } from "../../model/resource.ts";
import type { ServerConfig } from "../../model/server-config.ts";
import type { ServerDefinition } from "../../model/server-definition.ts";
import type { ServerStatus } from "../../model/server-status.ts";
import type { SessionBoard } from "../../model/session-board.ts";
import type { CallOutcome, Tool } from "../../model/tool.ts";
import { BoardCore } from "../core.ts";
import { withMatchingServer } from "../matching-server.ts";
import type { ServerEntry } from "../server-entry.ts";
import type { ServerSet } from "../server-set.ts";
import { SessionServers } from "./session-servers.ts";

export interface SessionSettings {
  id: string;
  cwd: string;
  /** The agent's board. */
  base: BoardCore;
  /** The agent as it holds in this session. */
  agent: AgentConfig;
  options: BoardOptions;
  /** The servers it starts with. */
  brought: readonly ServerDefinition[];
  limits: SessionLimits;
  startupWait: number;
  /** What was left out of what the session asked for. */
  notices: readonly string[];
  onClosed: () => void;
}

export class LiveSession implements SessionBoard {
  readonly id: string;
  readonly cwd: string;
  readonly resources: BoardResources;
  readonly prompts: BoardPrompts;
  readonly #settings: SessionSettings;
  readonly #core: BoardCore;
  readonly #own: SessionServers;
  /** Of its own servers, to begin with. */
  readonly #definitions: readonly ServerDefinition[];
  /** Abort the calls under way: they end with the session, also those on servers that go on without it. */
  readonly #running = new Set<AbortController>();
  #closing: Promise<void> | undefined;

  constructor(settings: SessionSettings) {
    const { id, cwd, base, agent, options, brought, startupWait } = settings;
    this.#settings = settings;
    this.id = id;
    this.cwd = cwd;
    const names = new Set(brought.map(({ name }) => name));
    const isFree = ({ name }: ServerDefinition): boolean => !names.has(name);
    // To the session they are like any other of its own.
    const perSession = base.agent.servers.flatMap(({ scope, ...definition }) =>
      scope === "session" ? [definition] : [],
    );
    const shared = base.servers
      .own()
      .flatMap(({ definition }) => (definition.scope !== "session" ? [definition] : []));
    this.#definitions = [...perSession.filter(isFree), ...brought];
    this.#core = new BoardCore({
      agent: { ...agent, servers: [...shared.filter(isFree), ...this.#definitions] },
      options,
      cache: undefined,
      call: (name, args, call) => this.call(name, args, call),
      over: {
        base,
        session: { id, servers: sessionGuards(base.agent.servers, () => this.#core.servers) },
      },
    });
    this.#own = new SessionServers({
      servers: this.#core.servers,
      base: base.servers,
      perSession,
      cwd,
      startupWait,
    });
    ({ resources: this.resources, prompts: this.prompts } = this.#core.content);
  }

  async open(): Promise<void> {
    await this.#own.open(this.#definitions);
    for (const notice of this.notices) this.#core.logger.warn(notice);
    this.#core.opened();
  }

  get notices(): readonly string[] {
    return [
      ...this.#settings.notices,
      ...this.#own.warnings,
      processWarning(this.#own.programs),
      this.#selection().notice,
    ].filter((notice) => notice !== undefined);
  }

  tools(): Tool[] {
    const leftOut = new Set(this.#selection().leftOut);
    return this.#core.tools.list().filter((tool) => !leftOut.has(tool));
  }

  async call(
    name: string,
    args: JsonObject = {},
    options: BoardCallOptions = {},
  ): Promise<CallOutcome> {
    if (this.#closing !== undefined) return toFailure(isClosed());
    const { onElicitation, onSampling } = this.#core.options;
    return this.#untilClosed(options.signal, (signal) =>
      this.#core.call(name, args, { onElicitation, onSampling, ...options, signal }),
    );
  }

  async find(name: string, options: { signal?: AbortSignal } = {}): Promise<Tool> {
    if (this.#closing !== undefined) throw isClosed();
    return this.#core.find(name, options.signal);
  }

  status(): ServerStatus[] {
    const { servers } = this.#core;
    return [...servers.shared(), ...servers.withheld(), ...servers.own()].map((entry) =>
      this.#statusOf(entry),
    );
  }

  on<Name extends keyof BoardEvents>(
    event: Name,
    listener: (event: BoardEvents[Name]) => void,
  ): () => void {
    return this.#core.on(event, listener);
  }

  async restart(server: string): Promise<ServerStatus> {
    const { servers } = this.#core;
    const shared = servers.shared().find(({ name }) => name === server);
    if (shared !== undefined && shared.supervisor.live === undefined) {
      // As a call to it would: that disturbs nobody.
      await shared.supervisor.start();
      return this.#statusOf(shared);
    }
    const entry = this.#own.named(server);
    await entry.supervisor.restart();
    return this.#statusOf(entry);
  }

  async setEnabled(server: string, enabled: boolean): Promise<ServerStatus> {
    if (this.#closing !== undefined) throw isClosed();
    return this.#statusOf(await this.#own.setEnabled(server, enabled));
  }

  async wake(): Promise<void> {
    if (this.#closing !== undefined) return;
    this.#own.wake();
    await Promise.all(this.#core.servers.all().map((entry) => entry.retryLogin()));
  }

  async add(name: string, config: ServerConfig): Promise<ServerStatus> {
    if (this.#closing !== undefined) throw isClosed();
    const { agent, limits } = this.#settings;
    const { brought } = this.#own;
    const { definitions } = parseSessionServers({ [name]: config }, agent.session, this.cwd);
    const [definition] = definitions;
    if (definition === undefined || brought.includes(name)) {
      const message = `the session has a server '${name}' already`;
      throw new PlugboardError("INVALID_ARGUMENTS", message, {
        server: name,
        hint: "remove it first, or choose another name",
      });
    }
    const { notice } = selectServers([...brought, name], limits);
    if (notice !== undefined) throw new PlugboardError("INVALID_ARGUMENTS", notice);
    this.#core.learnSecrets(definitions);
    const { env = process.env } = this.#core.options;
    return this.#statusOf(await this.#own.add(withMatchingServer(definition, agent, env)));
  }

  async remove(name: string): Promise<void> {
    if (this.#own.named(name).definition.origin !== "session") {
      const message = `server '${name}' comes from the configuration`;
      throw new PlugboardError("UNSUPPORTED", message, {
        server: name,
        hint: "you can remove only servers that the session brought",
      });
    }
    await this.#own.remove(name);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    for (const each of this.#running) each.abort();
    this.#core.content.resources.leave();
    await this.#core.close();
    this.#settings.onClosed();
  }

  /** Runs a call that ends when `given` aborts or the session is closed. */
  async #untilClosed<Outcome>(
    given: AbortSignal | undefined,
    call: (signal: AbortSignal) => Promise<Outcome>,
  ): Promise<Outcome> {
    const ending = new AbortController();
    const onAbort = (): void => ending.abort(given?.reason);
    if (given?.aborted) onAbort();
    given?.addEventListener("abort", onAbort, { once: true });
    this.#running.add(ending);
    try {
      return await call(ending.signal);
    } finally {
      given?.removeEventListener("abort", onAbort);
      this.#running.delete(ending);
    }
  }

  /** Which of the tools that the session brings are in its list. */
  #selection(): Selection<Tool> {
    const brought = new Set(this.#own.brought);
    const tools = this.#core.tools
      .list()
      .filter(({ source }) => source.kind === "mcp" && brought.has(source.server))
      // The limit is about what a model has to read.
      .filter(isOffered);
    return selectTools(tools, this.#settings.limits, canonicalOf);
  }

  #statusOf(entry: ServerEntry): ServerStatus {
    const status = this.#core.status(entry);
    status.diagnostics.push(...this.#own.shadowing(entry.definition));
    if (!this.#core.servers.isWithheld(entry)) return status;
    // To this session, whatever it is to others.
    const { pid: _, ...disabled } = status;
    return { ...disabled, state: { kind: "disabled" }, available: false };
  }
}

/** The settings of the session's own servers as they are now, of the others as the configuration has them. */
function sessionGuards(
  configured: readonly ServerDefinition[],
  servers: () => ServerSet,
): ServerGuards {
  const guards = serverGuards(configured);
  return {
    own: (subject) => {
      const { origin, source } = subject;
      if (origin !== "session" || source.kind !== "mcp") return guards.own(subject);
      const entry = servers()
        .own()
        .find(({ name }) => name === source.server);
      return entry?.definition.guard ?? {};
    },
    shadowed: (subject) => guards.shadowed(subject),
  };
}

function canonicalOf({ source, name }: Tool): string {
  return source.kind === "mcp" ? `${source.server}/${source.tool}` : name;
}

function isClosed(): PlugboardError {
  return new PlugboardError("SERVER_UNAVAILABLE", "the session is closed");
}
