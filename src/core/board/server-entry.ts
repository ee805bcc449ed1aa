// One server on a board: its definition, its supervisor, and what the board knows about it.

import type { CachedTools } from "../catalog/catalog-cache.ts";
import type { ListedContents } from "../catalog/content-files.ts";
import type { BoardOptions } from "../types/board-options.ts";
import type { ServerIdentity } from "../types/connection.ts";
import type { Diagnostic } from "../types/diagnostic.ts";
import { PlugboardError } from "../types/errors.ts";
import type { Logger } from "../types/logger.ts";
import type { ServerDefinition } from "../types/server-definition.ts";
import { isCallable } from "../types/server-state.ts";
import type { ListedTools, ServerStatus } from "../types/server-status.ts";
import { describeTarget } from "../redaction/hide.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import type { ServerSupervisor } from "../types/supervisor.ts";
import type { ServerSignIn } from "./sign-in.ts";

/** Cached tools that are older than this are listed again, also if nobody calls the server. */
const MAX_CACHE_AGE_MS = 24 * 3_600_000;
/** An unchanged list is not written again before this time has passed. */
const FRESH_CACHE_MS = 3_600_000;

export type ServerEntryParts = Pick<ServerEntry, "cwd" | "supervisor" | "signIn"> & {
  /** Asked once, when the first of them is needed: a file may hold thousands of disabled servers. */
  keys: () => ServerKeys;
  cached: CachedTools | undefined;
  /** The cached tools are those for other capabilities. */
  isListedElsewhere: boolean;
  contents?: ListedContents | undefined;
};

export interface ServerKeys {
  /** Hash of the definition and the working directory, which together decide which tools the server has. */
  hash: string;
  /** Hash of the definition alone. Tools are pinned under it. */
  pin: string;
  /** Approvals of its tools count for this key. */
  approval: string;
}

/** How a server is started and reached: another value of one of these takes a new start. */
const STARTED_WITH = [
  "enabled",
  "target",
  "authHeader",
  "protocol",
  "scope",
  "maxMessageBytes",
  "roots",
  "sampling",
] as const satisfies readonly (keyof ServerDefinition)[];

export class ServerEntry {
  /** Where it runs unless its definition says otherwise. */
  readonly cwd: string;
  readonly supervisor: ServerSupervisor;
  /** Only for a remote server. */
  readonly signIn: ServerSignIn | undefined;
  /** What it listed in an earlier run besides its tools. */
  readonly contents: ListedContents;
  readonly #makeKeys: () => ServerKeys;
  #keys: ServerKeys | undefined;
  #knowledge: "none" | "cached" | "live";
  readonly #cachedAt: number | undefined;
  readonly #isListedElsewhere: boolean;
  readonly #isDoubted: boolean;
  #identity: ServerIdentity | undefined;
  #diagnostics: Diagnostic[] = [];

  constructor({
    cwd,
    supervisor,
    signIn,
    keys,
    cached,
    isListedElsewhere,
    contents = {},
  }: ServerEntryParts) {
    this.contents = contents;
    this.cwd = cwd;
    this.supervisor = supervisor;
    this.signIn = signIn;
    this.#makeKeys = keys;
    this.#knowledge = cached === undefined ? "none" : "cached";
    this.#cachedAt = cached?.savedAt;
    this.#isListedElsewhere = isListedElsewhere;
    this.#isDoubted = cached?.isDoubted ?? false;
    this.#identity = cached?.identity;
  }

  /** As it is now: `reconfigure` replaces settings. */
  get definition(): ServerDefinition {
    return this.supervisor.definition;
  }

  /** A gateway runs it, and guards its calls. */
  get inGateway(): boolean {
    return this.supervisor.told !== undefined;
  }

  /** Under these keys pins, approvals and cached tools are kept. They belong to the definition that the server was created with. */
  get keys(): ServerKeys {
    return (this.#keys ??= this.#makeKeys());
  }

  /** Whether a server of that definition is started and reached like this one. */
  isStartedLike(definition: ServerDefinition, cwd: string): boolean {
    const startOf = (of: ServerDefinition, directory: string): string =>
      canonicalJson([
        ...STARTED_WITH.map((key) => of[key] ?? null),
        // The server uses the login of this one.
        of.matchingServer?.target ?? null,
        of.target.kind === "stdio" ? directory : null,
      ]);
    return startOf(this.definition, this.cwd) === startOf(definition, cwd);
  }

  /** How the server introduced itself last, to this board, to a gateway or in an earlier run. */
  get identity(): ServerIdentity | undefined {
    return this.supervisor.told?.status.identity ?? this.#identity;
  }

  /** Replaces the settings that take no new start: timeouts, limits, rules, names. */
  reconfigure(definition: ServerDefinition): void {
    this.supervisor.reconfigure(definition);
  }

  get name(): string {
    return this.definition.name;
  }

  /** Whether its tools are known, from the cache or from the server itself. */
  get isKnown(): boolean {
    return this.#knowledge !== "none";
  }

  /** The server itself has listed its tools, so they are not only known from an earlier run. */
  get isConfirmed(): boolean {
    return this.#knowledge === "live";
  }

  /** Call this when the server itself has listed its tools. */
  toolsListed(identity: ServerIdentity): void {
    this.#knowledge = "live";
    this.#identity = identity;
  }

  /**
   * Logs only new diagnostics, since a server has the same ones after every restart. Those in `reported` have been
   * logged.
   */
  diagnose(diagnostics: Diagnostic[], logger: Logger, reported: readonly Diagnostic[] = []): void {
    const known = new Set(this.#diagnostics.map((each) => JSON.stringify(each)));
    this.#diagnostics = [...diagnostics, ...reported];
    for (const each of diagnostics) {
      if (known.has(JSON.stringify(each))) continue;
      const { server, message, subject } = each;
      logger.warn(message, { server, tool: subject });
    }
  }

  /** Why the server starts with its board, or undefined if it does not. `now` is in milliseconds since the epoch. */
  startReason(start: BoardOptions["start"], now: number): "eager" | "to-be-known" | undefined {
    const { enabled, lazy, scope } = this.definition;
    if (!enabled || start === "none") return undefined;
    // Session-scoped servers start with their session, so the agent's board starts none of them eagerly.
    if (start !== "unknown" && start !== "stale" && !lazy && scope !== "session") return "eager";
    if (this.supervisor.state.kind === "failed") return undefined;
    // The gateway sees to it that what it knows is not too old.
    if (this.inGateway) return this.isKnown ? undefined : "to-be-known";
    const isUpToDate =
      start === "stale"
        ? this.#isAtMost(MAX_CACHE_AGE_MS, now) && !this.#isDoubted
        : this.#isCachedFor(MAX_CACHE_AGE_MS, now);
    return this.isKnown && isUpToDate ? undefined : "to-be-known";
  }

  /** Whether the cached tools were saved lately, for the capabilities that the server is told now. */
  isCacheFresh(now: number): boolean {
    return this.#isCachedFor(FRESH_CACHE_MS, now) && !this.#isDoubted;
  }

  #isCachedFor(atMost: number, now: number): boolean {
    return this.#isAtMost(atMost, now) && !this.#isListedElsewhere;
  }

  /** What was saved while the clock was ahead would be new until then. */
  #isAtMost(atMost: number, now: number): boolean {
    const age = now - (this.#cachedAt ?? -Infinity);
    return age >= 0 && age <= atMost;
  }

  /** Throws UNSUPPORTED for a server that is a program. */
  requireSignIn(): ServerSignIn {
    if (this.signIn !== undefined) return this.signIn;
    throw new PlugboardError(
      "UNSUPPORTED",
      `'${this.name}' is a program, so there is nothing to sign in to`,
      { server: this.name, hint: "pass its credentials in env" },
    );
  }

  /**
   * Starts a server again that needs a sign-in, if you have signed in elsewhere since. Tries each login once.
   * Resolves when the attempt has ended; does not reject.
   */
  async retryLogin(): Promise<void> {
    if (this.supervisor.state.kind !== "needs-auth" || !(await this.signIn?.hasUntriedLogin()))
      return;
    await this.supervisor.start();
  }

  /** Begins anew if you have signed out elsewhere. Resolves when the token is forgotten; does not reject. */
  async dropLogin(): Promise<void> {
    const hasEnded = (await this.signIn?.hasEnded()) ?? false;
    if (hasEnded && this.supervisor.live !== undefined) void this.supervisor.restart();
  }

  /** `more` are diagnostics of the board. */
  status(
    { tools, promptTokens, hiddenByRules }: ListedTools,
    more: readonly Diagnostic[],
  ): ServerStatus {
    const { definition, supervisor } = this;
    const { target, name, origin, from } = definition;
    const { state } = supervisor;
    const isCached = this.#knowledge === "cached";
    const status: ServerStatus = {
      name,
      origin,
      // The transport in use: the server may not speak the configured one.
      transport: (state.kind === "ready" ? this.#identity?.transport : undefined) ?? target.kind,
      target: describeTarget(target),
      state,
      tools,
      promptTokens,
      cached: isCached,
      available: isCallable(state),
      restarts: supervisor.restarts,
      calls: supervisor.stats.snapshot(),
      diagnostics: [...this.#diagnostics, ...missingIn(this), ...more],
      stderr: supervisor.stderrTail(),
    };
    // Keys without a value are left out: people print the status as JSON and compare it.
    if (from !== undefined) status.from = from;
    if (hiddenByRules !== undefined) status.hiddenByRules = hiddenByRules;
    if (isCached && this.#cachedAt !== undefined) status.cachedAt = this.#cachedAt;
    if (supervisor.lastError !== undefined) status.lastError = supervisor.lastError.message;
    if (this.#identity !== undefined) status.identity = this.#identity;
    if (state.kind === "ready" && state.pid !== undefined) status.pid = state.pid;
    const { told } = supervisor;
    return told === undefined
      ? status
      : { ...status, ...told.status, diagnostics: joined(told.status.diagnostics, more) };
  }

  /** Resolves when no process of the server is left. */
  async close(): Promise<void> {
    await this.supervisor.close();
    await this.signIn?.close();
  }
}

/** What a gateway tells of a server, and what only this board knows. */
function joined(told: readonly Diagnostic[], more: readonly Diagnostic[]): Diagnostic[] {
  const known = new Set(told.map((each) => JSON.stringify(each)));
  return [...told, ...more.filter((each) => !known.has(JSON.stringify(each)))];
}

function missingIn({ name, supervisor }: Pick<ServerEntry, "name" | "supervisor">): Diagnostic[] {
  const message = supervisor.missing?.();
  return message === undefined ? [] : [{ server: name, message, kind: "missing" }];
}
