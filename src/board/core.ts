// What a board is made of, wired together: the same for an agent's board and for one that is laid over it.

import { toFailure } from "../bridge/failure.ts";
import { collectNative } from "../bridge/native.ts";
import type { CatalogCache } from "../catalog/catalog-cache.ts";
import type { AgentConfig } from "../model/agent-config.ts";
import type { BoardCallOptions } from "../model/board.ts";
import type { BoardOptions } from "../model/board-options.ts";
import type { BoardEvents } from "../model/events.ts";
import type { JsonObject } from "../model/json.ts";
import { type Logger, silentLogger } from "../model/logger.ts";
import type { CallOutcome, Tool } from "../model/tool.ts";
import { redactingLogger } from "../secrets/redacting-logger.ts";
import { Redactor } from "../secrets/redactor.ts";
import { Turns } from "../server/requests/turns.ts";
import { type Clock, systemClock, within } from "../util/clock.ts";
import { Emitter } from "../util/emitter.ts";
import { Calls } from "./calls.ts";
import { BoardGuard, type SessionGuard } from "./guard.ts";
import { findByFullName, type FindContext, findTool, unknownTool } from "./find-tool.ts";
import { createOffering, type Offering } from "./offering.ts";
import { learnSecrets } from "./plug.ts";
import { resourceTools } from "./resource-tools.ts";
import { BoardRoots } from "./roots.ts";
import { BoardServers } from "./servers.ts";
import type { Slot } from "./slot.ts";
import { BoardTools } from "./tools.ts";

/** How long a closing board waits for what its calls came to. */
const LAST_WORDS_MS = 1000;

export interface BoardCoreOptions {
  agent: AgentConfig;
  options: BoardOptions;
  cache: CatalogCache | undefined;
  /** Answers who calls a tool by way of the tool itself. */
  call: (name: string, args: JsonObject, options: BoardCallOptions) => Promise<CallOutcome>;
  /** What the board is laid over, where it is a session's. */
  over?: { core: BoardCore; session: Omit<SessionGuard, "guard"> };
}

export class BoardCore {
  readonly agent: AgentConfig;
  readonly options: BoardOptions;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
  readonly slots = new Map<string, Slot>();
  readonly roots: BoardRoots;
  readonly events: Emitter<BoardEvents>;
  readonly tools: BoardTools;
  readonly servers: BoardServers;
  readonly contents: Offering["contents"];
  readonly resources: Offering["resources"];
  readonly prompts: Offering["prompts"];
  readonly guard: BoardGuard;
  readonly #calls: Calls;
  readonly #find: FindContext;

  constructor({ agent, options, cache, call, over }: BoardCoreOptions) {
    this.agent = agent;
    this.options = options;
    this.clock = options.clock ?? systemClock;
    this.redactor = new Redactor(over?.core.redactor);
    this.logger = redactingLogger(options.logger ?? silentLogger, this.redactor);
    const { workspaceDir = agent.workspace } = options;
    const hasTools = options.resourceTools ?? agent.resourceTools ?? false;
    const own = [
      ...(options.native ?? []),
      ...(hasTools ? resourceTools(() => this.resources) : []),
    ];
    const native = collectNative(own, workspaceDir ? { workspaceDir } : {});
    const { roots = workspaceDir === undefined ? undefined : [workspaceDir] } = options;
    this.roots = new BoardRoots(roots, workspaceDir ?? process.cwd());
    this.events = new Emitter((error) =>
      this.logger.error("a listener threw", { reason: String(error) }),
    );
    this.#calls = new Calls(this.clock, this.logger, this.events);
    const common = { agent, options, clock: this.clock, logger: this.logger };
    this.guard = new BoardGuard({
      ...common,
      redactor: this.redactor,
      learnSecrets: () => learnSecrets(agent.servers, options.env ?? process.env, this.redactor),
      ...(over !== undefined && { session: { ...over.session, guard: over.core.guard } }),
    });
    this.tools = new BoardTools({
      agent,
      native,
      slots: this.slots,
      calls: this.#calls,
      guard: this.guard,
      execute: call,
    });
    this.#find = { tools: this.tools, slots: this.slots, clock: this.clock };
    const parts = { ...common, slots: this.slots, events: this.events, guard: this.guard };
    const { redactor } = this;
    const shared = over?.core.contents;
    ({
      contents: this.contents,
      resources: this.resources,
      prompts: this.prompts,
    } = createOffering({ ...parts, redactor, hasTools, ...(shared && { shared }) }));
    this.servers = new BoardServers({
      ...parts,
      redactor,
      roots: this.roots,
      turns: new Turns(),
      tools: this.tools,
      contents: this.contents,
      cache,
    });
  }

  async call(name: string, args: JsonObject, options: BoardCallOptions): Promise<CallOutcome> {
    try {
      const tool =
        this.tools.find(name) ?? (await findByFullName(name, this.#find, options.signal));
      if (tool === undefined) return toFailure(unknownTool(name, this.#find));
      return await this.#calls.run(tool, args, options);
    } catch (error) {
      return toFailure(error);
    }
  }

  async find(name: string, signal: AbortSignal | undefined): Promise<Tool> {
    return (await findTool(name, this.#find, signal)).tool;
  }

  /** Resolves when nothing that was plugged in here is left. The guard ends after `others` that use it. */
  async close(others?: Promise<void>): Promise<void> {
    this.contents.close();
    await Promise.all([this.servers.close(), others]);
    // Without their servers they end at once; one that waits for a person is not waited for.
    await within(this.clock, LAST_WORDS_MS, this.#calls.idle());
    await this.guard.close();
    this.events.clear();
  }
}
