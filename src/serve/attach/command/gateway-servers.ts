// The servers of a gateway, for a board of this command and its sessions. If the gateway goes away, another one takes over,
// or this process runs the servers itself.

import { NATIVE_MODULES } from "../../../core/config/fingerprint.ts";
import {
  boardClosed,
  cancelled,
  PlugboardError,
  toPlugboardError,
  withHint,
} from "../../../core/types/errors.ts";
import type {
  BoardInGateway,
  GatewayPort,
  NativeToolInGateway,
} from "../../../core/types/gateway-port.ts";
import type { Logger } from "../../../core/types/logger.ts";
import type { RedactorElsewhere } from "../../../core/types/redactor.ts";
import { DEFAULT_TOOL_TIMEOUT_MS } from "../../../core/types/server-definition.ts";
import type { ServerLogLevel } from "../../../core/types/server-log.ts";
import type { JsonObject } from "../../../core/types/json.ts";
import type { EndTrace, TraceListener, TraceOptions } from "../../../core/types/trace.ts";
import { untilAborted } from "../../../util/abort.ts";
import { type Clock, pause, within } from "../../../util/clock.ts";
import type { Link, RequestOptions } from "../link.ts";
import type { Told } from "../wire.ts";
import { type Args, ask, type Method, type Result } from "./ask.ts";
import { connectionTo, GatewayServer } from "./gateway-server.ts";

/** A gateway that runs the same configuration, and the servers of it that this command would start in the same way. */
export interface Gateway {
  /** The key of its channel, which is new with each start of a gateway. */
  key: string;
  connect: () => Promise<Link>;
  /** The names of these servers; NATIVE_MODULES stands for the modules of the configuration. */
  shares: ReadonlySet<string>;
}

export interface GatewayServersOptions {
  agentId: string;
  clock: Clock;
  logger: Logger;
  /** Finds the gateway that runs now. Undefined if there is none to share with. */
  find: () => Promise<Gateway | undefined>;
  /** Milliseconds that a call may take without progress, whatever the configuration says. */
  toolTimeout?: number | undefined;
  /** Milliseconds that another gateway is looked for. Default 5000: one that is being restarted is back by then. */
  reattachFor?: number;
  /** Told when the gateway is gone, and what has taken its place. */
  onLost?: (message: string) => void;
}

const REATTACH_MS = 5000;
const RETRY_MS = 200;
/** A gateway applies an edit within seconds, or never. */
const APPLY_MS = 10_000;
/** How long a call waits for what takes the place of a gateway. */
const LONGEST_WAIT_MS = 60_000;
const CLOSE_WAIT_MS = 1000;

interface Attached {
  gateway: Gateway;
  link: Link;
  /** The sessions that stand for the boards there, by their numbers. */
  sessions: Map<object, Promise<number>>;
}

export class GatewayServers implements GatewayPort {
  onChange: (() => Promise<void>) | undefined;
  readonly clock: Clock;
  readonly #options: GatewayServersOptions;
  readonly #servers = new Map<string, GatewayServer>();
  readonly #boards = new Map<object, { given: BoardInGateway; level?: ServerLogLevel }>();
  /** What begins each trace in a gateway, by its number. */
  readonly #traces = new Map<number, () => void>();
  readonly #ending = new AbortController();
  /** Undefined if no gateway takes calls. */
  #now: Attached | undefined;
  /** The gateway has gone: settles when something has taken its place, and rejects if nothing could. */
  #settling: Promise<void> | undefined;
  #shares: ReadonlySet<string> = new Set();
  #native: readonly NativeToolInGateway[] | undefined;
  /** Sessions and traces have numbers on the link. */
  #lastNumber = 0;

  private constructor(options: GatewayServersOptions) {
    this.#options = options;
    this.clock = options.clock;
  }

  /** Rejects with SERVER_UNAVAILABLE if the gateway cannot be used. */
  static async open(options: GatewayServersOptions, gateway: Gateway): Promise<GatewayServers> {
    const servers = new GatewayServers(options);
    await servers.#attach(gateway);
    return servers;
  }

  /** Whether there is a gateway that takes calls. */
  get isUsable(): boolean {
    return this.#now !== undefined;
  }

  server(name: string): GatewayServer | undefined {
    return this.#shares.has(name) ? this.#servers.get(name) : undefined;
  }

  native(): readonly NativeToolInGateway[] | undefined {
    return this.#shares.has(NATIVE_MODULES) ? this.#native : undefined;
  }

  settled(signal?: AbortSignal): Promise<void> | undefined {
    // Its end may not have been told yet.
    if (this.#now?.link.isOpen === false) this.#lose(this.#now, "has stopped");
    return this.#settling && this.#untilSettled(this.#settling, signal);
  }

  async open(board: object, given: BoardInGateway): Promise<void> {
    await this.settled();
    const attached = this.#now;
    this.#boards.set(board, { given });
    try {
      if (attached !== undefined) await this.#session(attached, board);
      if (this.#ending.signal.aborted) throw boardClosed();
    } catch (error) {
      // The gateway may have gone just now. Then the next one opens the session, or this process has the servers.
      if (attached?.link.isOpen === false && !this.#ending.signal.aborted) return;
      this.#boards.delete(board);
      throw error;
    }
  }

  async close(board: object): Promise<void> {
    const attached = this.#now;
    const session = attached?.sessions.get(board);
    this.#boards.delete(board);
    attached?.sessions.delete(board);
    const isLast = this.#boards.size === 0;
    if (isLast) this.#ending.abort();
    // A gateway that hangs does not keep the command, and one that is gone has closed the session.
    const closed = session?.then((number) => attached?.link.release(number)).catch(() => {});
    if (closed !== undefined) await within(this.clock, CLOSE_WAIT_MS, closed);
    if (isLast) attached?.link.close();
  }

  readonly redactor: RedactorElsewhere = {
    texts: async (texts) => (await this.#redact("agent/redact", [{ texts }])) ?? texts,
    beginning: async (text, covered, isEnd) =>
      (await this.#redact("agent/redactBeginning", [text, covered, isEnd])) ?? {
        text: text.slice(covered),
        held: 0,
        covered: 0,
      },
  };

  /** Undefined if this process runs the servers, and so knows their secrets. Rejects if nobody could be asked. */
  async #redact<Name extends "agent/redact" | "agent/redactBeginning">(
    method: Name,
    args: Args<Name>,
  ): Promise<Result<Name> | undefined> {
    for (;;) {
      await this.settled();
      const attached = this.#now;
      if (attached === undefined || this.#shares.size === 0) return undefined;
      try {
        return await ask(attached.link, method, args);
      } catch (error) {
        // The gateway has gone: the next one is asked, or this process knows the secrets by then.
        if (attached.link.isOpen || this.#ending.signal.aborted) throw error;
      }
    }
  }

  setLogLevel(board: object, level: ServerLogLevel | undefined): void {
    const known = this.#boards.get(board);
    if (known === undefined) return;
    known.level = level;
    if (this.isUsable) this.askIn(board, "session/logLevel", [level ?? ""]).catch(() => {});
  }

  trace(onEntry: TraceListener, { server = "", maxSize = 0 }: TraceOptions): EndTrace {
    if (server !== "" && this.server(server) === undefined) return async () => {};
    const lasting = (this.#lastNumber += 1);
    // If the gateway goes away, the trace goes on with the next one.
    const begin = (): void => {
      this.ask("agent/trace", [server, maxSize], { onEntry, lasting }).catch(() => {});
    };
    this.#traces.set(lasting, begin);
    begin();
    return async () => {
      this.#traces.delete(lasting);
      await this.#now?.link.release(lasting).catch(() => {});
    };
  }

  async lookAgain(): Promise<void> {
    await this.settled()?.catch(() => {});
    const found = await this.#look();
    if (found === "attached") this.#settling = undefined;
    // A gateway with another configuration has other rules too, so nothing is left to it.
    if (found !== "none" || this.#shares.size === 0) return;
    this.#shares = new Set();
    // It may apply the same edit later than this board.
    void this.#seek(APPLY_MS, () => this.#shares.size === 0).then(async (isFound) => {
      if (isFound) await this.onChange?.();
    });
  }

  /** Asks about a server. Rejects if no gateway runs. */
  async ask<Name extends Method>(
    method: Name,
    args: Args<Name>,
    options?: RequestOptions,
  ): Promise<Result<Name>> {
    return ask(this.#attached().link, method, args, options);
  }

  /** Asks in the session of the board that a request is made on; that of the agent's board, if it is on none. */
  async askIn<Name extends Method>(
    board: object | undefined,
    method: Name,
    args: Args<Name>,
    options?: RequestOptions,
  ): Promise<Result<Name>> {
    const attached = this.#attached();
    const [first] = this.#boards.keys();
    const session = await this.#session(attached, board ?? first ?? {});
    // After which time a call wants to know whether the gateway still answers.
    const patience = this.#options.toolTimeout;
    return ask(attached.link, method, args, { ...options, session, patience });
  }

  #attached(): Attached {
    if (this.#now === undefined) throw gone("it has stopped");
    return this.#now;
  }

  async #look(): Promise<"attached" | "none" | "unusable"> {
    try {
      const gateway = await this.#options.find();
      if (gateway === undefined) return "none";
      if (gateway.key === this.#now?.gateway.key) this.#shares = gateway.shares;
      else await this.#attach(gateway);
      return "attached";
    } catch (error) {
      this.#options.logger.debug("no gateway could be attached to", { reason: String(error) });
      return "unusable";
    }
  }

  /** Looks for a gateway for some time, while it is needed. */
  async #seek(ms: number, isNeeded = () => true): Promise<boolean> {
    const { signal } = this.#ending;
    const until = this.clock.monotonic() + ms;
    while ((await this.#look()) !== "attached") {
      if (this.clock.monotonic() >= until) return false;
      await pause(this.clock, RETRY_MS, signal);
      if (signal.aborted || !isNeeded()) return false;
    }
    return true;
  }

  /** Resolves when the gateway can be used: its servers are known, and the sessions of all boards are open there. */
  async #attach(gateway: Gateway): Promise<void> {
    const link = await gateway.connect();
    const attached: Attached = { gateway, link, sessions: new Map() };
    const later: Told[] = [];
    const onServers = (told: Told): void => {
      if (this.#now === attached) this.#apply(told);
      else later.push(told);
    };
    try {
      const options = { onServers, lasting: 0 };
      await ask(link, "agent/attach", [this.#options.agentId], options);
      await Promise.all([...this.#boards.keys()].map((board) => this.#session(attached, board)));
      if (this.#ending.signal.aborted) throw boardClosed();
    } catch (error) {
      link.close();
      throw error;
    }
    // All at once: until here, another gateway may be in use.
    const last = this.#now;
    this.#now = attached;
    this.#shares = gateway.shares;
    for (const told of later) this.#apply(told);
    for (const begin of this.#traces.values()) begin();
    last?.link.close();
    // A gateway that stops takes no more calls, and ends those that run.
    link.hear("closing", () => this.#lose(attached, "is stopping"));
    void link.closed.then(({ kind }) => kind !== "closed" && this.#lose(attached, "has stopped"));
  }

  #apply({ servers, native }: Told): void {
    this.#native =
      native?.map((tool) => ({
        ...tool,
        direct: () => (this.isUsable ? connectionTo(this, NATIVE_MODULES) : undefined),
        execute: () => Promise.reject(gone("it has stopped")),
      })) ?? this.#native;
    const names = new Set(servers.map((each) => (typeof each === "string" ? each : each.name)));
    for (const each of servers) {
      if (typeof each === "string") continue;
      const known = this.#servers.get(each.name) ?? new GatewayServer(each, this);
      this.#servers.set(each.name, known);
      known.update(each);
    }
    for (const [name, server] of this.#servers) if (!names.has(name)) server.removed();
  }

  #session(attached: Attached, board: object): Promise<number> {
    const known = attached.sessions.get(board);
    if (known !== undefined) return known;
    const opening = this.#openSession(attached, board);
    attached.sessions.set(board, opening);
    opening.catch(() => attached.sessions.delete(board));
    return opening;
  }

  async #openSession({ link }: Attached, board: object): Promise<number> {
    const { agentId, toolTimeout } = this.#options;
    const { given, level } = this.#boards.get(board) ?? {};
    if (given === undefined) throw boardClosed();
    const { onNotice, defaultToolTimeout = DEFAULT_TOOL_TIMEOUT_MS, ...sharing } = given;
    const onEvent = (event: string, value: JsonObject): void => {
      if (event === "notice") onNotice(value.text as string);
      else this.#servers.get(value.server as string)?.event(event, value, board);
    };
    const session = (this.#lastNumber += 1);
    const options = { toolTimeout, ...sharing, defaultToolTimeout, onEvent, lasting: session };
    await ask(link, "session/open", [agentId], options);
    if (level !== undefined) await ask(link, "session/logLevel", [level], { session });
    if (this.#boards.has(board)) return session;
    // The board was closed meanwhile.
    await link.release(session);
    throw boardClosed();
  }

  async #untilSettled(settling: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
    const isSettled = settling.then(() => true);
    const waited = within(this.clock, LONGEST_WAIT_MS, isSettled);
    if ((await untilAborted(waited, signal, cancelled)) === undefined) throw gone("none came");
    // The next gateway may be lost as well. Then the call waits for the one after it.
    await this.settled(signal);
  }

  #lose(lost: Attached, how: "is stopping" | "has stopped"): void {
    if (this.#now !== lost || this.#ending.signal.aborted) return;
    const { onLost, agentId } = this.#options;
    this.#now = undefined;
    onLost?.(
      `the gateway that runs the servers of agent '${agentId}' ${how}; calls wait for what takes its place`,
    );
    const starting = { kind: "starting", attempt: 1, since: this.clock.now() } as const;
    for (const server of this.#servers.values()) server.lost(starting);
    const settling = this.#replace(lost).then(() => {
      if (this.#settling === settling) this.#settling = undefined;
    });
    settling.catch(() => {});
    this.#settling = settling;
  }

  /** Resolves when another gateway has taken over, or the board runs the servers in this process. */
  async #replace(lost: Attached): Promise<void> {
    const { onLost, agentId, logger, reattachFor = REATTACH_MS } = this.#options;
    const { signal } = this.#ending;
    const whose = `the servers of agent '${agentId}'`;
    try {
      // A gateway that stops still answers what it was asked before.
      await lost.link.closed;
      const before = [...this.#shares].sort().join("\n");
      const isFound = await this.#seek(reattachFor);
      if (signal.aborted) throw boardClosed();
      if (!isFound) this.#shares = new Set();
      if ([...this.#shares].sort().join("\n") !== before) await this.onChange?.();
      onLost?.(
        isFound
          ? `another gateway runs ${whose} now`
          : `no other gateway has come, so ${whose} run in this process now`,
      );
    } catch (reason) {
      const error = toPlugboardError(reason, "SERVER_UNAVAILABLE");
      if (signal.aborted) throw error;
      this.#now?.link.close();
      this.#now = undefined;
      for (const server of this.#servers.values()) server.lost({ kind: "failed", error });
      logger.error(`nothing has taken the place of the gateway: ${withHint(error)}`);
      onLost?.(`nothing has taken its place: ${withHint(error)}`);
      throw error;
    }
  }
}

function gone(why: string): PlugboardError {
  const message = `the gateway is gone, and nothing has taken its place: ${why}`;
  return new PlugboardError("SERVER_UNAVAILABLE", message, { hasNotRun: true, quote: "" });
}
