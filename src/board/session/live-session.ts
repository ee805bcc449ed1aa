// A session's board: its own servers beside those of the agent's board that it is laid over, under a guard
// of its own.

import { toFailure } from "../../bridge/failure.ts";
import { parseSessionServers } from "../../config/session.ts";
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
import { withLender } from "../lender.ts";
import { learnSecrets } from "../plug.ts";
import type { Slot } from "../slot.ts";
import { sessionGuards } from "./guards.ts";
import { OwnServers, perSession } from "./own-servers.ts";
import { isClosed, isConfigured, isThere } from "./refusals.ts";
import { retryLogin } from "./retry-login.ts";
import { RunningCalls } from "./running-calls.ts";
import { isForAll, isShared, SharedServers } from "./shared-servers.ts";
import { Switches } from "./switches.ts";

export interface LiveSessionOptions {
  id: string;
  cwd: string;
  over: BoardCore;
  /** The agent's, as it holds in this session. */
  agent: AgentConfig;
  options: BoardOptions;
  /** To begin with. */
  brought: readonly ServerDefinition[];
  limits: SessionLimits;
  startupWait: number;
  /** What is worth saying of what was asked for. */
  notices: readonly string[];
  onClosed: () => void;
}

export class LiveSession implements SessionBoard {
  readonly id: string;
  readonly cwd: string;
  readonly resources: BoardResources;
  readonly prompts: BoardPrompts;
  readonly #given: LiveSessionOptions;
  /** Of its own servers, as they are now. */
  readonly #definitions: Map<string, ServerDefinition>;
  readonly #core: BoardCore;
  readonly #shared: SharedServers;
  readonly #own: OwnServers;
  readonly #switches: Switches;
  readonly #calls = new RunningCalls();
  #closing: Promise<void> | undefined;

  constructor(given: LiveSessionOptions) {
    const { id, cwd, over, options, brought, startupWait } = given;
    this.#given = given;
    this.id = id;
    this.cwd = cwd;
    const names = new Set(brought.map(({ name }) => name));
    const isFree = ({ name }: ServerDefinition): boolean => !names.has(name);
    const shared = [...over.slots.values()].filter(isForAll).map(({ definition }) => definition);
    const own = [...perSession(over).filter(isFree), ...brought];
    this.#definitions = new Map(own.map((each) => [each.name, each]));
    this.#core = new BoardCore({
      agent: { ...given.agent, servers: [...shared.filter(isFree), ...own] },
      options,
      cache: undefined,
      call: (name, args, call) => this.call(name, args, call),
      over: {
        core: over,
        session: {
          id,
          servers: sessionGuards(over.agent.servers, this.#definitions),
          isShared: (subject) => isShared(over, subject),
        },
      },
    });
    this.#shared = new SharedServers(over, this.#core);
    this.#own = new OwnServers({
      over,
      session: this.#core,
      shared: this.#shared,
      definitions: this.#definitions,
      cwd,
      startupWait,
    });
    const parts = { session: this.#core, own: this.#own, shared: this.#shared };
    this.#switches = new Switches({ over, ...parts });
    ({ resources: this.resources, prompts: this.prompts } = this.#core);
  }

  async open(): Promise<void> {
    const opening = this.#own.open();
    for (const notice of this.notices) this.#core.logger.warn(notice);
    await opening;
    this.#core.servers.announces = true;
  }

  get notices(): readonly string[] {
    return [
      ...this.#given.notices,
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
    return this.#calls.run(options.signal, (signal) =>
      this.#core.call(name, args, {
        ...(onElicitation !== undefined && { onElicitation }),
        ...(onSampling !== undefined && { onSampling }),
        ...options,
        signal,
      }),
    );
  }

  async find(name: string, options: { signal?: AbortSignal } = {}): Promise<Tool> {
    if (this.#closing !== undefined) throw isClosed();
    return this.#core.find(name, options.signal);
  }

  status(): ServerStatus[] {
    const { slots, servers } = this.#core;
    const shared = [...slots.values(), ...this.#shared.withheld.values()].filter(
      ({ definition: { name } }) => !servers.own.has(name),
    );
    return [...shared, ...servers.own.values()].map((slot) => this.#statusOf(slot));
  }

  on<Name extends keyof BoardEvents>(
    event: Name,
    listener: (event: BoardEvents[Name]) => void,
  ): () => void {
    return this.#core.events.on(event, listener);
  }

  async restart(server: string): Promise<ServerStatus> {
    const down = this.#shared.down(server);
    if (down !== undefined) {
      // As a call to it would: nobody is disturbed by that.
      await down.supervisor.start();
      return this.#statusOf(down);
    }
    const slot = this.#own.named(server);
    await slot.supervisor.restart();
    return this.#statusOf(slot);
  }

  async setEnabled(server: string, enabled: boolean): Promise<ServerStatus> {
    if (this.#closing !== undefined) throw isClosed();
    return this.#statusOf(await this.#switches.set(server, enabled));
  }

  async wake(): Promise<void> {
    if (this.#closing !== undefined) return;
    this.#own.wake();
    await Promise.all([...this.#core.slots.values()].map(retryLogin));
  }

  async add(name: string, config: ServerConfig): Promise<ServerStatus> {
    if (this.#closing !== undefined) throw isClosed();
    const { agent, limits } = this.#given;
    const { options, redactor } = this.#core;
    const { brought } = this.#own;
    const { definitions } = parseSessionServers({ [name]: config }, agent.session, this.cwd);
    const [definition] = definitions;
    if (definition === undefined || brought.includes(name)) throw isThere(name);
    const { notice } = selectServers([...brought, name], limits);
    if (notice !== undefined) throw new PlugboardError("INVALID_ARGUMENTS", notice);
    const { env = process.env } = options;
    learnSecrets(definitions, env, redactor);
    const lent = withLender(definition, agent, env);
    return this.#statusOf(await this.#own.plug(lent));
  }

  async remove(name: string): Promise<void> {
    if (this.#own.named(name).definition.origin !== "session") throw isConfigured(name);
    await this.#own.unplug(name);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    this.#calls.end();
    this.#core.resources.leave();
    this.#shared.close();
    await this.#core.close();
    this.#given.onClosed();
  }

  /** Which of the tools that the session brings are in its list. */
  #selection(): Selection<Tool> {
    const brought = new Set(this.#own.brought);
    const tools = this.#core.tools
      .list()
      .filter(({ source }) => source.kind === "mcp" && brought.has(source.server))
      // The limit is about what a model has to read.
      .filter(isOffered);
    return selectTools(tools, this.#given.limits, canonicalOf);
  }

  #statusOf(slot: Slot): ServerStatus {
    const { definition } = slot;
    const status = this.#core.servers.status(slot, [
      ...this.#own.shadowing(definition),
      ...this.#shared.diagnostics(definition.name),
    ]);
    return this.#switches.isWithheld(slot) ? asDisabled(status) : status;
  }
}

/** To the session, whatever it is to others. */
function asDisabled({ pid: _pid, ...status }: ServerStatus): ServerStatus {
  return { ...status, state: { kind: "disabled" }, available: false };
}

function canonicalOf({ source, name }: Tool): string {
  return source.kind === "mcp" ? `${source.server}/${source.tool}` : name;
}
