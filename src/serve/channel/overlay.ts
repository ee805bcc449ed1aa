// Shows two boards as one: the shared part, which is a gateway's, and the command's own part, which runs in this process.
// The shared part can be lost and replaced; calls made meanwhile wait for the next one.

import { slashed, suggestTools } from "../../core/board/find-tool.ts";
import { Inclusion } from "../../core/board/inclusion.ts";
import { READ_SAVED_RESULT } from "../../core/board/saved-results.ts";
import { BoardSearch } from "../../core/board/tool-search.ts";
import { toFailure } from "../../core/tools/failure.ts";
import type {
  BoardBase,
  BoardCallOptions,
  ServerInstructions,
  SessionBoard,
} from "../../core/types/board.ts";
import { cancelled, PlugboardError, unknownServer } from "../../core/types/errors.ts";
import type { BoardEvents } from "../../core/types/events.ts";
import type { ToolSearchSetting } from "../../core/types/include.ts";
import type { JsonObject } from "../../core/types/json.ts";
import type { Embed, SearchOptions, ToolHit } from "../../core/types/search.ts";
import type { Logger } from "../../core/types/logger.ts";
import type { BoardPrompts } from "../../core/types/prompt.ts";
import type { ServerLogLevel } from "../../core/types/server-log.ts";
import type { ServerState } from "../../core/types/server-state.ts";
import type { ServerStatus } from "../../core/types/server-status.ts";
import {
  type CallOutcome,
  canonicalName,
  type ModelDetails,
  ownName,
  type Tool,
  type ToolResult,
} from "../../core/types/tool.ts";
import { untilAborted } from "../../util/abort.ts";
import { type Clock, within } from "../../util/clock.ts";
import { Emitter } from "../../util/emitter.ts";
import { oneLine } from "../../util/text.ts";
import { isForApps, isForModels, isSameState, toolsChange } from "./changes.ts";
import { OverlayPrompts, OverlayResources } from "./overlay-content.ts";
import { RemoteSession } from "./remote-session.ts";
import { type CostlyEvent, isCostly } from "./wire.ts";

/** How long a call waits for a gateway to take over. */
const LONGEST_WAIT_MS = 60_000;
const CLOSE_WAIT_MS = 1000;

export interface OverlayOptions<Own extends BoardBase> {
  own: Own | undefined;
  /** As it is configured now. */
  toolSearch: () => ToolSearchSetting;
  clock: Clock;
  logger: Logger;
  embed?: Embed | undefined;
}

type SharedState<Shared> =
  | { kind: "there" }
  | { kind: "lost"; next: Promise<Shared>; since: number }
  | { kind: "failed"; error: PlugboardError };

export abstract class Overlay<
  Shared extends BoardBase,
  Own extends BoardBase,
> implements BoardBase {
  readonly resources: OverlayResources;
  readonly prompts: BoardPrompts;
  protected readonly own: Own | undefined;
  protected readonly options: OverlayOptions<Own>;
  #shared: Shared;
  #state: SharedState<Shared> = { kind: "there" };
  readonly #events: Emitter<BoardEvents>;
  readonly #offOwn: (() => void)[] = [];
  #offShared: (() => void)[] = [];
  /** The costly events that somebody has listened to. */
  readonly #heard = new Set<CostlyEvent>();
  #logLevel: ServerLogLevel | undefined;
  #isClosed = false;
  #ownServers: ReadonlySet<string> = new Set();
  #ownNames: ReadonlySet<string> | undefined;
  /** The tools as they were listed when a change was last reported. */
  #listed: Tool[];
  readonly #inclusion = new Inclusion({
    tools: () => this.#joined({ all: true }),
    onChange: () => this.#reportTools(),
  });
  readonly #search: BoardSearch;
  readonly #readers = new WeakMap<Tool, Tool>();

  constructor(shared: Shared, options: OverlayOptions<Own>) {
    const { own, logger } = options;
    this.#search = new BoardSearch(this, options);
    this.#shared = shared;
    this.own = own;
    this.options = options;
    this.#events = new Emitter((error) =>
      logger.error("a listener threw", { reason: String(error) }),
    );
    const content = {
      own,
      isOwn: (server: string) => this.#ownServers.has(server),
      hasOwnServers: () => this.#ownServers.size > 0,
      last: () => this.#shared,
      shared: (signal?: AbortSignal) => this.whenShared(signal),
      again: <Result>(ask: (from: BoardBase) => Promise<Result>, signal?: AbortSignal) =>
        this.again(ask, signal),
      names: () => this.#names(),
    };
    this.resources = new OverlayResources(content);
    this.prompts = new OverlayPrompts(content);
    this.#updateOwn();
    this.#listenToOwn();
    this.#listenToShared();
    this.#listed = this.tools({ all: true });
  }

  tools(options: { all?: boolean } = {}): Tool[] {
    return this.#joined(options).map((tool) => this.#inclusion.of(tool));
  }

  get toolSearch(): ToolSearchSetting {
    return this.options.toolSearch();
  }

  include(tool: string | Pick<Tool, "name" | "source">): Tool {
    return this.#inclusion.choose(tool, "always");
  }

  exclude(tool: string | Pick<Tool, "name" | "source">): Tool {
    return this.#inclusion.choose(tool, "manual");
  }

  #joined({ all = false }: { all?: boolean }): Tool[] {
    const shared = this.#shared.tools({ all });
    const own = this.own?.tools({ all }) ?? [];
    if (own.length === 0 && this.#ownServers.size === 0) return shared;
    const isNative = ({ source }: Tool): boolean => source.kind === "native";
    const ownNative = own.filter(isNative).map((tool) => this.#reader(tool));
    const taken = new Set(ownNative.map(({ name }) => name));
    const isFree = ({ name, source }: Tool): boolean =>
      !taken.has(name) && !(source.kind === "mcp" && this.#ownServers.has(source.server));
    const sharedHere = shared.filter(isFree);
    return [
      ...sharedHere.filter(isNative),
      ...ownNative,
      ...sharedHere.filter((tool) => !isNative(tool)),
      ...own.filter((tool) => !isNative(tool)),
    ];
  }

  search(query: string | readonly string[], options?: SearchOptions): Promise<ToolHit[]> {
    return this.#search.search(query, options);
  }

  async find(name: string, options: { signal?: AbortSignal } = {}): Promise<Tool> {
    return this.#inclusion.of(await this.#find(name, options));
  }

  async #find(name: string, { signal }: { signal?: AbortSignal }): Promise<Tool> {
    const { own } = this;
    const find = { ...(signal && { signal }) };
    if (own === undefined) return this.again((shared) => shared.find(name, find), signal);
    if (this.#isOwnName(name)) return this.#reader(await own.find(name, find));
    const known = this.#knownShared(name);
    if (known !== undefined) return known;
    const [only, ...others] = this.tools({ all: true }).filter((tool) => ownName(tool) === name);
    if (only !== undefined && others.length > 0) throw severalTools(name, [only, ...others]);
    if (only !== undefined) return only;
    const full = slashed(name, this.#names());
    const slash = full.indexOf("/");
    const isOfShared = this.#shared.status().some((each) => each.name === full.slice(0, slash));
    if (slash > 0 && isOfShared) return this.again((shared) => shared.find(name, find), signal);
    const [mine, theirs] = await Promise.allSettled([
      own.find(name, find),
      this.again((shared) => shared.find(name, find), signal),
    ]);
    if (mine.status === "fulfilled" && theirs.status === "fulfilled") {
      throw severalTools(name, [mine.value, theirs.value]);
    }
    if (mine.status === "fulfilled") return this.#reader(mine.value);
    if (theirs.status === "fulfilled") return theirs.value;
    throw this.#unknown(full, [mine.reason, theirs.reason]);
  }

  call(name: string, args: JsonObject = {}, options: BoardCallOptions = {}): Promise<CallOutcome> {
    const { own } = this;
    if (own === undefined) return this.#callShared(name, args, options);
    if (name === READ_SAVED_RESULT || name === `native/${READ_SAVED_RESULT}`) {
      return this.#readSaved(own, name, args, options);
    }
    if (this.#isOwnName(name)) return own.call(name, args, options);
    // A tool that the gateway is known to have costs no second promise.
    if (this.#knownShared(name) !== undefined) return this.#callShared(name, args, options);
    return this.#callUnknown(own, name, args, options);
  }

  status(): ServerStatus[] {
    return [...this.sharedStatus(), ...(this.own?.status() ?? [])];
  }

  instructions(): ServerInstructions[] {
    const shared = this.#shared.instructions().filter(({ server }) => !this.isOwnServer(server));
    return [...shared, ...(this.own?.instructions() ?? [])];
  }

  setLogLevel(level: ServerLogLevel | undefined): void {
    this.#logLevel = level;
    this.own?.setLogLevel(level);
    if (this.#state.kind === "there") this.#shared.setLogLevel(level);
  }

  on<Name extends keyof BoardEvents>(
    event: Name,
    listener: (event: BoardEvents[Name]) => void,
  ): () => void {
    if (isCostly(event) && !this.#heard.has(event)) {
      this.#heard.add(event);
      this.#offShared.push(this.#forward(this.#shared, event));
      if (this.own !== undefined) this.#offOwn.push(this.#forward(this.own, event));
    }
    return this.#events.on(event, listener);
  }

  abstract close(): Promise<void>;

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The shared part as it was last known, also while there is none. */
  protected get lastShared(): Shared {
    return this.#shared;
  }

  /** Such a server shadows a shared one of the same name. */
  protected isOwnServer(name: string): boolean {
    return this.#ownServers.has(name);
  }

  /** The status of the shared servers that none of the command's own replaces. */
  protected sharedStatus(): ServerStatus[] {
    const shared = this.#shared.status().filter(({ name }) => !this.isOwnServer(name));
    const state = this.#state;
    return state.kind === "there" ? shared : shared.map((each) => whileLost(each, state));
  }

  /** Call this when the command's own servers may be others. */
  protected ownServersChanged(): void {
    this.#updateOwn();
    this.#reportTools();
  }

  /** Call it once when the shared part is gone, or takes no more calls. `next` is what takes its place. */
  lost(next: Promise<Shared>): void {
    const before = this.sharedStatus();
    const lost: SharedState<Shared> = { kind: "lost", next, since: this.options.clock.now() };
    this.#state = lost;
    this.#reportStates(before, this.sharedStatus());
    next.then(
      (shared) => {
        if (this.#state === lost && !this.#isClosed) this.#replace(shared);
        else this.discard(shared);
      },
      (error: unknown) => {
        if (this.#state !== lost) return;
        const reason = error instanceof PlugboardError ? error : gone(String(error));
        const was = this.sharedStatus();
        this.#state = { kind: "failed", error: reason };
        this.#reportStates(was, this.sharedStatus());
      },
    );
  }

  /** What a subclass does with a new shared part, before anybody hears of it. */
  protected replaced(_shared: Shared): void {}

  /** What a subclass does with a shared part that came too late. */
  protected discard(_shared: Shared): void {}

  /** What a subclass does when the shared part has changed. */
  protected sharedChanged(): void {}

  /** The shared part, as soon as there is one. Rejects with SERVER_UNAVAILABLE or CANCELLED. */
  protected async whenShared(signal?: AbortSignal): Promise<Shared> {
    for (;;) {
      if (signal?.aborted) throw cancelled();
      if (this.#isClosed) throw isClosed();
      const state = this.#state;
      if (state.kind === "failed") throw state.error;
      if (state.kind === "lost") {
        const { clock } = this.options;
        // Another one may be lost again; whoever waits then waits for the next.
        const settled = state.next.then(
          () => true,
          () => true,
        );
        const waited = within(clock, LONGEST_WAIT_MS, settled);
        if ((await untilAborted(waited, signal, cancelled)) === undefined) throw gone("none came");
      } else if (isGone(this.#shared)) {
        // Its end was not told yet.
        await new Promise((resolve) => setImmediate(resolve));
      } else return this.#shared;
    }
  }

  /** Asks the shared part for something that changes nothing, and asks the next one if it is lost meanwhile. */
  protected async again<Result>(
    ask: (shared: Shared) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    for (;;) {
      const shared = await this.whenShared(signal);
      try {
        return await ask(shared);
      } catch (error) {
        if (!isGone(shared)) throw error;
      }
    }
  }

  /** Runs a shared tool for a model: tools that were listed earlier work with the gateway of now. */
  readonly execute = async (
    name: string,
    ...args: Parameters<Tool["execute"]>
  ): Promise<ToolResult> => {
    const [, , signal] = args;
    let tool: Pick<Tool, "execute">;
    try {
      const shared = await this.whenShared(signal);
      if (shared instanceof RemoteSession) return shared.execute(name, ...args);
      tool = await shared.find(name, { ...(signal && { signal }) });
    } catch (error) {
      const details = toFailure(error);
      return { content: details.content, isError: true, details };
    }
    return tool.execute(...args);
  };

  /** Call it when the board begins to close: whoever waits for a shared part waits for nothing then. */
  protected closes(): void {
    this.#isClosed = true;
  }

  /** Closes what is the command's own on the gateway. A gateway that hangs does not keep the command. */
  protected async closeShared(part: Pick<SessionBoard, "close">): Promise<void> {
    await within(this.options.clock, CLOSE_WAIT_MS, part.close());
  }

  protected clearEvents(): void {
    for (const off of [...this.#offOwn.splice(0), ...this.#offShared.splice(0)]) off();
    this.#events.clear();
  }

  #callShared(name: string, args: JsonObject, options: BoardCallOptions): Promise<CallOutcome> {
    const shared = this.#shared;
    return this.#state.kind === "there" && !isGone(shared) && !this.#isClosed
      ? shared.call(name, args, options)
      : this.#callNext(name, args, options);
  }

  async #callNext(name: string, args: JsonObject, options: BoardCallOptions): Promise<CallOutcome> {
    let shared: Shared;
    try {
      shared = await this.whenShared(options.signal);
    } catch (error) {
      return toFailure(error);
    }
    return shared.call(name, args, options);
  }

  /** Neither part is known to have the tool. A call of an unknown tool has no effect, so both can be tried. */
  async #callUnknown(
    own: Own,
    name: string,
    args: JsonObject,
    options: BoardCallOptions,
  ): Promise<CallOutcome> {
    const outcome = await this.#callShared(name, args, options);
    if (!isUnknown(outcome)) return outcome;
    const mine = await own.call(name, args, options);
    if (!isUnknown(mine)) return mine;
    const errors = [mine, outcome].map(({ failure }) =>
      failure === undefined ? undefined : new PlugboardError(failure.code, failure.message),
    );
    return toFailure(this.#unknown(name, errors));
  }

  /** Each part has saved what its own tools returned, and both read it with a tool of one name. */
  async #readSaved(
    own: Own,
    name: string,
    args: JsonObject,
    options: BoardCallOptions,
  ): Promise<CallOutcome> {
    const isIn = (board: BoardBase): boolean =>
      board.tools().some((tool) => tool.name === READ_SAVED_RESULT);
    if (!isIn(own)) return this.#callShared(name, args, options);
    const mine = await own.call(name, args, options);
    const isElsewhere = mine.failure?.code === "INVALID_ARGUMENTS" && isIn(this.#shared);
    return isElsewhere ? this.#callShared(name, args, options) : mine;
  }

  #reader(tool: Tool): Tool {
    if (tool.name !== READ_SAVED_RESULT || tool.source.kind !== "native") return tool;
    const known = this.#readers.get(tool);
    if (known !== undefined) return known;
    const reader: Tool = {
      ...tool,
      execute: async (...args) => {
        const mine = await tool.execute(...args);
        const { failure } = (mine.details ?? {}) as Partial<ModelDetails>;
        const isShared = this.#shared.tools().some(({ name }) => name === READ_SAVED_RESULT);
        if (failure?.code !== "INVALID_ARGUMENTS" || !isShared) return mine;
        return this.execute(READ_SAVED_RESULT, ...args);
      },
    };
    this.#readers.set(tool, reader);
    return reader;
  }

  /** A name that means a tool of the command's own part, whatever the gateway has. */
  #isOwnName(name: string): boolean {
    this.#ownNames ??= namesOf(this.own?.tools({ all: true }) ?? []);
    if (this.#ownNames.has(name)) return true;
    const slash = name.indexOf("/");
    return slash > 0 && this.#ownServers.has(name.slice(0, slash));
  }

  #knownShared(name: string): Tool | undefined {
    const shared = this.#shared;
    const tool = shared instanceof RemoteSession ? shared.known(name) : undefined;
    return tool?.source.kind === "mcp" && this.isOwnServer(tool.source.server) ? undefined : tool;
  }

  #names(): string[] {
    return this.status().map(({ name }) => name);
  }

  /** The error for a name that neither part knows, with what is near it in both. */
  #unknown(name: string, errors: readonly unknown[]): PlugboardError {
    const known = errors.filter((error) => error instanceof PlugboardError);
    const other = known.find(({ code }) => code !== "UNKNOWN_TOOL" && code !== "UNKNOWN_SERVER");
    if (other !== undefined) return other;
    const slash = name.indexOf("/");
    if (known.every(({ code }) => code === "UNKNOWN_SERVER") && slash > 0) {
      return unknownServer(oneLine(name.slice(0, slash), 100), this.#names());
    }
    const hint = suggestTools(name, this.tools({ all: true })) ?? known.at(-1)?.hint;
    const message = `there is no tool named '${oneLine(name, 200)}'`;
    return new PlugboardError("UNKNOWN_TOOL", message, { hint });
  }

  #replace(shared: Shared): void {
    const before = this.sharedStatus();
    for (const off of this.#offShared.splice(0)) off();
    this.#shared = shared;
    this.#state = { kind: "there" };
    this.#listenToShared();
    if (this.#logLevel !== undefined) shared.setLogLevel(this.#logLevel);
    this.replaced(shared);
    this.resources.resubscribe(shared, (error) =>
      this.options.logger.warn("a subscription to a resource was lost with the gateway", {
        reason: String(error),
      }),
    );
    this.#reportStates(before, this.sharedStatus());
    this.#reportTools();
    for (const { name: server } of this.sharedStatus()) {
      this.#events.emit("resources", { server, change: "list", uris: [] });
      this.#events.emit("prompts", { server });
    }
  }

  #updateOwn(): void {
    this.#ownServers = new Set(this.own?.status().map(({ name }) => name));
    this.#ownNames = undefined;
  }

  #listenToOwn(): void {
    const { own } = this;
    if (own === undefined) return;
    const changed = (): void => this.ownServersChanged();
    this.#offOwn.push(
      own.on("server", changed),
      own.on("tools", changed),
      own.on("appTools", changed),
      ...(["server", "resources", "prompts", "notice"] as const).map((event) =>
        this.#forward(own, event),
      ),
    );
  }

  #listenToShared(): void {
    const shared = this.#shared;
    const changed = (): void => {
      this.sharedChanged();
      this.#reportTools();
    };
    this.#offShared.push(
      shared.on("server", changed),
      shared.on("tools", changed),
      shared.on("appTools", changed),
      ...(["server", "resources", "prompts", "notice", ...this.#heard] as const).map((event) =>
        this.#forward(shared, event),
      ),
    );
  }

  #forward(board: BoardBase, event: keyof BoardEvents): () => void {
    return board.on(event, (value) => {
      const isShared = board !== (this.own as BoardBase | undefined);
      const server = "server" in value ? value.server : undefined;
      // What a replaced server does is nobody's concern here.
      if (isShared && server !== undefined && this.isOwnServer(server)) return;
      if (isShared && event === "server" && this.#state.kind !== "there") return;
      this.#events.emit(event, value);
      // Resource tools come with the first server that has resources.
      if (event === "resources") this.#reportTools();
    });
  }

  #reportTools(): void {
    const before = this.#listed;
    const now = this.tools({ all: true });
    this.#listed = now;
    const change = toolsChange(before, now, isForModels);
    if (change !== undefined) this.#events.emit("tools", change);
    const forApps = toolsChange(before, now, isForApps);
    if (forApps !== undefined) this.#events.emit("appTools", forApps);
  }

  #reportStates(before: readonly ServerStatus[], now: readonly ServerStatus[]): void {
    const was = new Map(before.map(({ name, state }) => [name, state]));
    for (const { name: server, state } of now) {
      const previous = was.get(server) ?? { kind: "idle" };
      was.delete(server);
      if (!isSameState(state, previous)) this.#events.emit("server", { server, state, previous });
    }
    for (const [server, previous] of was) {
      this.#events.emit("server", { server, state: { kind: "stopped" }, previous });
    }
  }
}

/** A server of a gateway that is gone: another one starts it, or nobody does. */
function whileLost(
  known: ServerStatus,
  state: Exclude<SharedState<unknown>, { kind: "there" }>,
): ServerStatus {
  const { pid: _, ...status } = known;
  if (status.state.kind === "disabled" || status.state.kind === "untrusted") return status;
  const is: ServerState =
    state.kind === "lost"
      ? { kind: "starting", attempt: 1, since: state.since }
      : { kind: "failed", error: state.error };
  return { ...status, state: is, available: state.kind === "lost" };
}

function namesOf(tools: readonly Tool[]): Set<string> {
  return new Set(
    tools.flatMap((tool) => [
      tool.name,
      tool.source.kind === "mcp" ? canonicalName(tool) : `native/${tool.name}`,
    ]),
  );
}

function isGone(shared: BoardBase): boolean {
  return shared instanceof RemoteSession && !shared.isOpen;
}

function isUnknown({ failure }: CallOutcome): boolean {
  return failure?.code === "UNKNOWN_TOOL" || failure?.code === "UNKNOWN_SERVER";
}

function severalTools(name: string, tools: readonly Tool[]): PlugboardError {
  const names = tools.map((tool) => canonicalName(tool)).join(", ");
  return new PlugboardError("UNKNOWN_TOOL", `several tools are named '${oneLine(name, 200)}'`, {
    hint: `say which: ${names}`,
  });
}

function isClosed(): PlugboardError {
  return new PlugboardError("SERVER_UNAVAILABLE", "the session is closed", { hasNotRun: true });
}

function gone(why: string): PlugboardError {
  const message = `the gateway is gone, and nothing has taken its place: ${why}`;
  return new PlugboardError("SERVER_UNAVAILABLE", message, { hasNotRun: true, quote: "" });
}
