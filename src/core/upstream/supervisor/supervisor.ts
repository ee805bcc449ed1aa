// Owns one server: starts, watches, restarts, idles and stops its connection. "Ready" means that the handshake
// is done and the tools have been listed on this very connection.

import type { Connection, ServerIdentity, ToolList } from "../../types/connection.ts";
import type { Diagnostic } from "../../types/diagnostic.ts";
import {
  cancelled,
  duringStep,
  ofSession,
  PlugboardError,
  toPlugboardError,
} from "../../types/errors.ts";
import { type LogFields, type Logger, loggerFor } from "../../types/logger.ts";
import {
  isExchanged,
  isPerUser,
  isRemote,
  type ServerDefinition,
} from "../../types/server-definition.ts";
import { isGivenUp, type ServerState } from "../../types/server-state.ts";
import type { ServerSupervisor } from "../../types/supervisor.ts";
import { type CallSignal, untilAborted } from "../../../util/abort.ts";
import { type Clock, type Timer, within } from "../../../util/clock.ts";
import { deferred } from "../../../util/deferred.ts";
import { duration } from "../../../util/text.ts";
import type { Connect } from "../connect.ts";
import { Relist } from "../lists/relist.ts";
import { Backoff, type BackoffDecision } from "./backoff.ts";
import { CallStats } from "./call-stats.ts";
import { IdleTimer } from "./idle-timer.ts";
import { unavailable } from "./unavailable.ts";

/** Callers wait this much longer than a server's timeout, so that they see the timeout as the server's error. */
const REPORT_MS = 500;
/** When a server that answered its list with an error is asked again: first, and at most, with twice the time in between. */
const FIRST_ASK_MS = 5000;
const LAST_ASK_MS = 300_000;
/** A call waits this long for the next try of a server that is restarting. */
const RETRY_PATIENCE_MS = 5000;

export interface SupervisorOptions {
  definition: ServerDefinition;
  connect: Connect;
  clock: Clock;
  random: () => number;
  logger: Logger;
  /** Why it failed a few minutes ago, in another run. */
  failed?: PlugboardError;
  /** One that failed then is not tried again until somebody names it. */
  skipFailed?: boolean | undefined;
  /** The first start waits for it: the end of the server whose place this one takes. Must not reject. */
  after?: Promise<void>;
  /** How to sign in, if it is not what the server's refusal suggests. */
  authHint?: string;
  /** How to start it again once its restarts are used up. */
  restartHint: string;
  onState: (state: ServerState, previous: ServerState) => void;
  onTools: (list: ToolList, identity: ServerIdentity) => void;
}

export class Supervisor implements ServerSupervisor {
  readonly stats = new CallStats();

  readonly #options: SupervisorOptions;
  #definition: ServerDefinition;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #backoff: Backoff;
  readonly #idleTimer: IdleTimer;
  #state: ServerState;
  #connection: Connection | undefined;
  /** The start under way; resolves when the attempt has ended, successful or not. */
  #attempt: Promise<void> | undefined;
  #giveUp: AbortController | undefined;
  #stopping: Promise<void> | undefined;
  #retry: Timer | undefined;
  /** When the next try is, in monotonic milliseconds. */
  #retryDue = 0;
  /** Resolves when the server's current backoff has ended. */
  #leftBackoff = deferred();
  #relist: Relist | undefined;
  /** While the server answers its list with an error. */
  #askAgain: Timer | undefined;
  #askMs = FIRST_ASK_MS;
  /** Resolves when nothing of a crashed connection is left; the next start waits for it. */
  #remains: Promise<void> | undefined;
  #restarts = 0;
  #lastError: PlugboardError | undefined;
  #lastStderr: string[] = [];
  #closed = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#definition = options.definition;
    this.#clock = options.clock;
    this.#logger = loggerFor(options.definition.name, options.logger);
    this.#backoff = new Backoff({
      clock: options.clock,
      random: options.random,
      maxRestarts: () => restartsAllowed(this.#definition),
    });
    this.#idleTimer = new IdleTimer(
      () => this.#definition.idleTimeout,
      options.clock,
      () => void this.rest(),
    );
    this.#remains = options.after;
    this.#lastError = options.failed;
    this.#state = firstState(options);
  }

  /** Its settings may be others at any time; what is started stays the same. */
  get definition(): ServerDefinition {
    return this.#definition;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** The connection, while ready: the fast path for a call. */
  get live(): Connection | undefined {
    return this.#state.kind === "ready" ? this.#connection : undefined;
  }

  get direct(): Connection | undefined {
    return this.live;
  }

  get restarts(): number {
    return this.#restarts;
  }

  get lastError(): PlugboardError | undefined {
    return this.#lastError;
  }

  missing(): string | undefined {
    return this.live?.missing();
  }

  stderrTail(): string[] {
    return this.#connection?.stderrTail() ?? this.#lastStderr;
  }

  /**
   * Starts the server unless it runs; resolves when that attempt has ended, in whatever state. With
   * `onlyToList`, the server is stopped again if no call follows.
   */
  async start(onlyToList = false): Promise<void> {
    this.#idleTimer.begin(onlyToList);
    if (this.#stopping !== undefined) await this.#stopping;
    switch (this.#state.kind) {
      case "idle":
      case "failed":
      case "backoff":
      case "needs-auth":
        return this.#begin();
      case "starting":
        return this.#attempt;
      default:
        return;
    }
  }

  /** `start`, but resolves after `timeout` at the latest, whatever the server does. */
  async attempt(onlyToList = false): Promise<void> {
    await within(this.#clock, this.definition.timeout + REPORT_MS, this.start(onlyToList));
  }

  /**
   * A connection for a call: at once while ready; while idle, starting or failed, after a start that it
   * triggers or joins, for at most `timeout`; in backoff, after the next try if that is soon; otherwise, and once its
   * restarts are used up, it rejects and says what happens next.
   */
  async acquire(signal?: CallSignal): Promise<Connection> {
    if (this.#stopping !== undefined && !this.#closed) await this.#stopping;
    if (this.#state.kind === "backoff") await this.#untilRetry(this.#state, signal);
    // In needs-auth too: you may have signed in elsewhere, and one attempt shows it.
    const mayStart = ["idle", "failed", "needs-auth"].includes(this.#state.kind);
    if (mayStart && !isGivenUp(this.#state)) void this.#begin();
    if (this.#state.kind === "starting" && this.#attempt !== undefined) {
      const attempt = within(this.#clock, this.definition.timeout + REPORT_MS, this.#attempt);
      await untilAborted(attempt, signal, cancelled);
    }
    const connection = this.live;
    if (connection === undefined)
      throw unavailable(this.definition, this.#toldState(), this.#clock);
    return connection;
  }

  /** The wall clock may have been set since the next try was planned, by which people are told of it. */
  #toldState(): ServerState {
    if (this.#state.kind !== "backoff") return this.#state;
    return { ...this.#state, retryAt: this.#clock.now() + this.#retryIn() };
  }

  /** Milliseconds until the next try. */
  #retryIn(): number {
    return this.#retryDue - this.#clock.monotonic();
  }

  /** Waits for the next try of a server that is restarting, and begins it if nobody else has. */
  async #untilRetry(
    backoff: ServerState & { kind: "backoff" },
    signal: CallSignal | undefined,
  ): Promise<void> {
    const wait = this.#retryIn();
    if (wait > RETRY_PATIENCE_MS) return;
    // It also ends when the server is started or stopped by somebody else.
    const over = within(this.#clock, wait, this.#leftBackoff.promise);
    await untilAborted(over, signal, cancelled);
    if (this.#state === backoff) this.#tryAgain();
  }

  /** Call it before and `leave` after each call, so that the server is not stopped as idle meanwhile. */
  enter(): void {
    this.stats.inFlight += 1;
    this.#idleTimer.used();
  }

  leave(): void {
    this.stats.inFlight -= 1;
    if (this.definition.idleTimeout !== 0 && this.stats.inFlight === 0) this.#idleTimer.arm();
  }

  /** Lists the tools again, or makes one attempt to start the server if it is down. */
  async refresh(): Promise<void> {
    if (this.live === undefined) return this.start();
    await this.#relist?.now();
  }

  /** Replaces the settings that take no new start. */
  reconfigure(definition: ServerDefinition): void {
    this.#definition = definition;
    if (this.#state.kind !== "ready" || this.stats.inFlight > 0) return;
    this.#idleTimer.cancel();
    this.#idleTimer.arm();
  }

  /** A person asked for it, so earlier failures are forgiven. */
  async restart(): Promise<void> {
    if (this.#state.kind === "disabled" || this.#closed) return;
    await this.#stop({ kind: "idle" });
    this.#backoff.forgive();
    await this.start();
  }

  /** A person asked for it: nothing but `restart` starts it again. */
  async stop(): Promise<void> {
    if (this.#state.kind === "disabled" || this.#closed) return;
    await this.#stop({ kind: "stopped", remedy: this.#options.restartHint });
  }

  /** Nobody uses it. False, and nothing happens, while a call is under way. */
  rest(): boolean {
    if (this.stats.inFlight > 0) return false;
    if (this.#state.kind === "ready") void this.#stop({ kind: "idle" });
    return true;
  }

  /** Stops for good. Idempotent; resolves when nothing of the server is left. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#stop({ kind: "stopped" });
    if (this.#state.kind !== "disabled") this.#move({ kind: "stopped" });
  }

  async #stop(then: ServerState): Promise<void> {
    if (this.#stopping !== undefined) await this.#stopping;
    this.#cancelTimers();
    const attempt = this.#attempt;
    const connection = this.#connection;
    if (attempt === undefined && connection === undefined) {
      await this.#remains;
      if (this.#state.kind !== "disabled") this.#move(then);
      return;
    }
    this.#stopping = (async () => {
      this.#move({ kind: "stopping" });
      this.#giveUp?.abort();
      await attempt;
      this.#backoff.stopped();
      this.#lastStderr = connection?.stderrTail() ?? this.#lastStderr;
      this.#connection = undefined;
      await Promise.all([connection?.close(), this.#remains]);
      this.#logger.info("stopped");
      this.#move(then);
      this.#stopping = undefined;
    })();
    await this.#stopping;
  }

  #begin(): Promise<void> {
    // A restart may have waited for the same stop as a close, and must not start the server again.
    if (this.#closed) return Promise.resolve();
    this.#cancelTimers();
    const giveUp = new AbortController();
    this.#giveUp = giveUp;
    const attempt = this.#run(giveUp.signal).finally(() => {
      if (this.#attempt === attempt) this.#attempt = undefined;
    });
    this.#attempt = attempt;
    return attempt;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const since = this.#clock.now();
    const started = this.#clock.monotonic();
    this.#move({ kind: "starting", attempt: this.#backoff.attempt, since });
    let connection: Connection | undefined;
    try {
      await this.#remains;
      connection = await this.#options.connect(signal, ({ gone, stderr }) => {
        this.#remains = gone;
        this.#lastStderr = stderr;
      });
      // All pages together; a page that does not come is the connection's own error, which says more.
      const patience = this.definition.timeout + REPORT_MS;
      const tools = await within(this.#clock, patience, this.#listTools(connection));
      if (signal.aborted) throw cancelled(signal);
      if (tools === undefined)
        throw new PlugboardError(
          "TIMEOUT",
          `the server did not list its tools within ${duration(patience)}`,
          { hint: 'raise "timeout" for this server' },
        );
      this.#becomeReady(connection, tools, this.#clock.monotonic() - started);
    } catch (error) {
      if (connection !== undefined) {
        this.#lastStderr = connection.stderrTail();
        this.#remains = connection.close();
      }
      if (!signal.aborted) this.#startFailed(toPlugboardError(error, "HANDSHAKE_FAILED"));
    }
  }

  /** A program such as npx gets the package of the server, which takes longer than a start; undefined once it has it. */
  installing(installer: string | undefined): void {
    if (this.#state.kind !== "starting") return;
    const { kind, attempt, since } = this.#state;
    const state = { kind, attempt, since };
    if (installer === undefined) return this.#move(state);
    this.#logger.info(`${installer} is installing it`);
    this.#move({ ...state, installer });
  }

  #becomeReady(connection: Connection, tools: ToolList, startMs: number): void {
    this.#connection = connection;
    this.#backoff.becameReady();
    const hadFailed =
      !tools.hasFailed && this.#lastError !== undefined && this.#lastError !== this.#options.failed;
    this.#listed(tools, connection);
    const relist = new Relist(this.#clock, () => this.#list(connection));
    this.#relist = relist;
    connection.onToolsChanged(() => relist.changed());
    void connection.closed.then((reason) => {
      // After a close of our own, the connection is no longer ours.
      if (this.#connection === connection && reason) this.#crashed(connection, reason);
    });
    const facts = { ms: Math.round(startMs), tools: tools.tools.length };
    this.#logger.info(hadFailed ? "ready again" : "ready", facts);
    const { pid, identity } = connection;
    const since = this.#clock.now();
    const { protocolVersion } = identity;
    this.#move({ kind: "ready", since, startMs, protocolVersion, pid });
    this.#idleTimer.arm();
  }

  #startFailed(error: PlugboardError): void {
    const decision = error.permanent ? HOPELESS : this.#backoff.startFailed();
    this.#handleFailure("start failed", error, decision, "error");
  }

  #crashed(connection: Connection, error: PlugboardError): void {
    this.#connection = undefined;
    this.#cancelTimers();
    this.#lastStderr = connection.stderrTail();
    this.#remains = connection.close();
    const decision = error.permanent ? HOPELESS : this.#backoff.crashed();
    this.#handleFailure("crashed", error, decision, "warn");
  }

  #handleFailure(
    what: string,
    failure: PlugboardError,
    decision: BackoffDecision,
    level: "warn" | "error",
  ): void {
    const error = this.#definition.origin === "session" ? ofSession(failure) : failure;
    this.#lastError = error;
    const { state, next } = afterFailure(error, decision, {
      ...this.#options,
      definition: this.#definition,
    });
    const fields: LogFields = {
      state: state.kind,
      code: error.code,
      attempt: state.kind === "backoff" ? state.attempt : undefined,
    };
    const { hint } = error;
    // The hint of a sign-in is what happens next.
    const advice = hint === undefined || state.kind === "needs-auth" ? "" : ` (${hint})`;
    // A sign-in that is needed is nobody's mistake.
    const told = state.kind === "needs-auth" ? "warn" : state.kind === "failed" ? "error" : level;
    this.#logger[told](`${what}: ${error.message}${advice}; ${next}`, fields);
    this.#move(state);
    if (state.kind !== "backoff") return;
    const wait = state.retryAt - this.#clock.now();
    this.#retryDue = this.#clock.monotonic() + wait;
    this.#retry = this.#clock.later(wait, () => this.#tryAgain());
  }

  #tryAgain(): void {
    this.#restarts += 1;
    this.#logger.info("restarting", { attempt: this.#backoff.attempt });
    void this.#begin();
  }

  async #list(connection: Connection): Promise<void> {
    try {
      const tools = await (this.#askAgain ? this.#listTools(connection) : connection.listTools());
      if (this.#connection === connection) this.#listed(tools, connection);
    } catch (error) {
      if (this.#connection !== connection) return;
      const reason = toPlugboardError(error, "PROTOCOL");
      this.#logger.warn(`could not list the tools again: ${reason.message}`);
      if (this.#askAgain !== undefined) this.#planToAsk();
    }
  }

  /**
   * An error that a server answers with is no reason to start it again: the program runs, and would answer the same. It may
   * be that it can be called, and that the list comes later.
   */
  async #listTools(connection: Connection): Promise<ToolList> {
    try {
      return await connection.listTools();
    } catch (error) {
      if (!(error instanceof PlugboardError) || error.code !== "SERVER_ERROR") throw error;
      const { message } = (this.#lastError = duringStep("listing tools", error));
      const { name: server } = this.#definition;
      const diagnostics: Diagnostic[] = [{ server, message, kind: "unlisted" }];
      return { tools: [], diagnostics, capabilities: {}, hasFailed: true };
    }
  }

  #listed(tools: ToolList, connection: Connection): void {
    this.#askAgain?.cancel();
    this.#askAgain = undefined;
    if (tools.hasFailed) {
      this.#logger.warn(
        `${this.#lastError?.message}; it is asked again in ${duration(this.#askMs)}`,
      );
      this.#planToAsk();
    } else {
      this.#lastError = undefined;
      this.#askMs = FIRST_ASK_MS;
    }
    this.#options.onTools(tools, connection.identity);
  }

  #planToAsk(): void {
    this.#askAgain?.cancel();
    this.#askAgain = this.#clock.later(this.#askMs, () => void this.#relist?.now());
    this.#askMs = Math.min(2 * this.#askMs, LAST_ASK_MS);
  }

  #cancelTimers(): void {
    for (const timer of [this.#retry, this.#idleTimer, this.#relist, this.#askAgain])
      timer?.cancel();
    this.#askAgain = undefined;
    this.#retry = undefined;
    this.#relist = undefined;
  }

  #move(state: ServerState): void {
    const previous = this.#state;
    if (previous.kind === state.kind && (state.kind === "stopped" || state.kind === "idle")) return;
    this.#state = state;
    if (previous.kind === "backoff") this.#leftBackoff.resolve();
    if (state.kind === "backoff") this.#leftBackoff = deferred();
    this.#options.onState(state, previous);
  }
}

/** A call tries it again, since you may have repaired what it needs. */
const HOPELESS: BackoffDecision = { kind: "give-up", reason: "trying again would not help" };

function firstState({ definition, failed, skipFailed = false }: SupervisorOptions): ServerState {
  if (!definition.enabled) return { kind: "disabled" };
  if (failed === undefined || !skipFailed) return { kind: "idle" };
  return { kind: "failed", error: failed, earlier: true };
}

/** A remote server may come back without our help, so only a limit of 0 counts for it. */
function restartsAllowed({ target, maxRestarts }: ServerDefinition): number {
  return isRemote(target) && maxRestarts > 0 ? Infinity : maxRestarts;
}

/** A failure leads to another attempt, to a sign-in that is needed, or to the end. `next` says which, for the log. */
function afterFailure(
  error: PlugboardError,
  decision: BackoffDecision,
  { definition, clock, restartHint, authHint = error.hint ?? "sign in" }: SupervisorOptions,
): { state: ServerState; next: string } {
  if (error.code === "NEEDS_AUTH") {
    const remedy = `${error.message}; ${authHint}`;
    const perUser = isExchanged(definition) ? "exchange" : "sign-in";
    const own = isPerUser(definition) ? ({ perUser } as const) : {};
    return { state: { kind: "needs-auth", remedy, ...own }, next: authHint };
  }
  if (decision.kind === "give-up" || !definition.restartOnCrash) {
    const why = decision.kind === "give-up" ? decision.reason : "it is not started again";
    const isUsedUp = decision.kind === "give-up" && decision !== HOPELESS;
    return {
      state: { kind: "failed", error, ...(isUsedUp && { remedy: restartHint }) },
      next: `no further attempt: ${why}`,
    };
  }
  const { delayMs, attempt } = decision;
  const retryAt = clock.now() + delayMs;
  const allowed = restartsAllowed(definition);
  const limit = allowed === Infinity ? {} : { of: allowed + 1 };
  return {
    state: { kind: "backoff", attempt, ...limit, retryAt, error },
    next: `next attempt in ${duration(delayMs)}`,
  };
}
