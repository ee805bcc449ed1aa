// The guard of one board. Decides which tools are listed, checks them against their pins, and sends every call
// through its stages.

import { needOf } from "../guard/approval.ts";
import type { Present } from "../tools/tool.ts";
import { findingDiagnostics, inspectTools, isHiding } from "../guard/definitions.ts";
import { cleanPins } from "../guard/pins/clean-pins.ts";
import type { ContentListing, ListedContent } from "../guard/pins/pin.ts";
import { type PinnedServerHooks, Pins, type Unpinned } from "../guard/pins/pins.ts";
import { createPolicy, type Policy, type Reach } from "../guard/policy.ts";
import { type ServerGuards, serverGuards } from "../guard/server-guards.ts";
import type { AgentConfig } from "../types/agent-config.ts";
import { hintsIn, saysHarmless, saysReadOnly } from "../types/approval.ts";
import type { BoardOptions } from "../types/board-options.ts";
import type { ToolList } from "../types/connection.ts";
import type { Diagnostic } from "../types/diagnostic.ts";
import { PlugboardError } from "../types/errors.ts";
import type { GuardedCall, Next, Subject } from "../types/guard.ts";
import type { ApprovalMode, FramingMode, PinMode } from "../types/guard-settings.ts";
import type { Logger } from "../types/logger.ts";
import type { PinnedServer } from "../types/pin.ts";
import type { ServerDefinition } from "../types/server-definition.ts";
import type { CallOutcome, ToolDefinition } from "../types/tool.ts";
import type { ToolVerdict } from "../types/tool-verdict.ts";
import type { GatewayPort } from "../types/gateway-port.ts";
import type { KnownNames, ToolEffect, ToolName } from "../types/tool-pattern.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { memoryPins } from "../state/memory.ts";
import { boundedMap, READERS } from "../../util/bounded-map.ts";
import { type Clock, within } from "../../util/clock.ts";
import { oneLine, plural, sayTool } from "../../util/text.ts";
import type { CallStages, CallStagesOptions, GuardedCallee } from "./call-stages.ts";
import type { SavedResults } from "./saved-results.ts";
import type { ServerEntry } from "./server-entry.ts";

/** How many tools of a server are named in the log and audited at once. */
const MOST_REPORTED = 20;

export interface BoardGuardOptions {
  agent: AgentConfig;
  options: BoardOptions;
  clock: Clock;
  logger: Logger;
  redactor: Redactor;
  /** Redacts the secrets of all servers, also of those that have not started. Runs before the first call. */
  learnSecrets: () => void;
  /** The names that rules may contain. */
  known: KnownNames;
  /** The name of the tool with which a model can read what was saved of a long result, if it has one now. */
  readTool: () => string | undefined;
  /** The servers that a gateway runs: it knows their pins. */
  gateway?: Pick<GatewayPort, "server"> | undefined;
  /** The tools of a server whose app a resource is. */
  showing: (server: string, uri: string) => readonly Subject[];
  /** Only for a session's board. */
  over?: GuardBeneath | undefined;
}

/** What the guard of a session's board needs to know of the session. */
export interface GuardedSession {
  /** What the audit calls it. Undefined: the audit names callers alone. */
  id: string | undefined;
  /** No call of the session needs less approval than this. */
  approval?: ApprovalMode | undefined;
  /** Calls per minute to a server without a setting of its own. Absent: no limit. */
  rateLimit?: number | false | undefined;
}

/** The session, and what its guard uses of the agent's board. */
export interface GuardBeneath {
  session: GuardedSession;
  /** The guard of the agent's board. Its pins and limits apply to shared servers. */
  guard: BoardGuard;
  /** The guard settings of shared servers and of the session's own. */
  servers: ServerGuards;
  isShared: (subject: Subject) => boolean;
  /** Whether the session is connected to the server itself, as a person is, and pins compare what it lists. */
  hasConnection: (server: string) => boolean;
  /** Whether what the rules refuse is hidden from the session's user. */
  hidesRefused: boolean;
}

/** A server whose pins are loaded, and the definition that it takes the place of. */
export interface PinnedEntry {
  entry: ServerEntry;
  /** As it is from now on. */
  definition: ServerDefinition;
  predecessor?: PinnedServer | undefined;
}

export class BoardGuard {
  #options: BoardGuardOptions;
  #servers: ServerGuards;
  #policy: Policy;
  readonly #pins: Pins;
  #loading: Promise<CallStages> | undefined;
  #loaded: CallStages | undefined;
  #goesByEffect = false;

  constructor(given: BoardGuardOptions) {
    const { options, clock, logger, redactor } = given;
    const { state } = options;
    this.#options = given;
    this.#servers = guardsOf(given);
    this.#policy = this.#makePolicy();
    const redact = <Value>(value: Value): Value => redactor.value(value);
    const store = state === undefined ? memoryPins() : cleanPins(state.pins, redact);
    this.#pins = new Pins({ store, changes: state?.changes, clock, logger, redact });
  }

  /**
   * Loads the pins of these servers. Await it before their tools are checked. `onOffer` is told when tools must be
   * offered again, because what is approved has changed.
   */
  async open(
    entries: readonly ServerEntry[],
    onOffer: (entry: ServerEntry) => void = () => {},
  ): Promise<void> {
    const opened = entries.map((entry) => ({ entry, definition: entry.definition }));
    (await this.prepareToOpen(opened, this.#options.agent, onOffer))();
  }

  /** `open` in two steps: the pins known so far apply until the returned function is called. */
  async prepareToOpen(
    entries: readonly PinnedEntry[],
    agent: AgentConfig,
    onOffer: (entry: ServerEntry) => void = () => {},
  ): Promise<() => void> {
    const prepared = await boundedMap(entries, READERS, ({ entry, definition, predecessor }) => {
      // A file may hold thousands of disabled servers, and none of them lists anything. Only what one takes over from its
      // predecessor is kept, so that its tools are compared once it is enabled.
      const isWatched = definition.enabled || predecessor !== undefined;
      if (!isWatched) return Promise.resolve(() => this.#pins.ignore(entry.name));
      const hooks = this.#pinHooks(entry, onOffer);
      return this.#pins.prepare(pinId(entry), pinMode(definition, agent), hooks, predecessor);
    });
    return () => prepared.forEach((open) => open());
  }

  /** A method of its own: hooks made where servers are prepared would keep all of these in memory, not just their own. */
  #pinHooks(entry: ServerEntry, onOffer: (entry: ServerEntry) => void): PinnedServerHooks {
    return {
      relist: () =>
        within(this.#options.clock, entry.definition.timeout, entry.supervisor.refresh()),
      onOffer: () => onOffer(entry),
    };
  }

  /** From the next call on, another configuration applies. Limits, approvals and saved results go on. */
  reconfigure(given: Pick<BoardGuardOptions, "agent" | "known" | "over">): void {
    this.#options = { ...this.#options, ...given };
    this.#servers = guardsOf(this.#options);
    this.#policy = this.#makePolicy();
    const earlier = this.#loaded;
    if (earlier === undefined) return;
    const base = given.over?.guard;
    this.#loaded = earlier.renewed(this.#stageOptions(base && base.#loaded));
    this.#loading = Promise.resolve(this.#loaded);
  }

  /**
   * Searches the definitions of a server's tools, and takes forged markers out of them. What is found is audited, and
   * logged in one line for the server, unless it is among the `known` diagnostics of an earlier list. It is a warning where
   * something is hidden, or the server was `known` without it.
   */
  inspect(
    server: string,
    listed: readonly ToolDefinition[],
    known: readonly Diagnostic[] | undefined,
  ): { tools: ToolDefinition[]; found: Diagnostic[] } {
    const { tools, findings } = inspectTools(listed);
    const found = findingDiagnostics(server, findings);
    if (findings.length > 0 && JSON.stringify(found) !== JSON.stringify(known)) {
      const isUrgent = known !== undefined || findings.some(isHiding);
      const names = findings.slice(0, MOST_REPORTED).map(({ tool }) => oneLine(tool, 80));
      const more = findings.length - names.length;
      const about = [...names, ...(more > 0 ? [`${more} more`] : [])].join(", ");
      const what = `what it says about ${plural(findings.length, "tool")} looks like an attempt to steer the model`;
      this.#options.logger[isUrgent ? "warn" : "info"](`${what}: ${about}`, { server });
      for (const { tool, patterns } of findings.slice(0, MOST_REPORTED)) {
        const places = patterns.map((each) => `definition/${each}`);
        void this.#stages().then((stages) => stages.auditSuspicious({ server, tool }, places));
      }
    }
    return { tools, found };
  }

  /** Checks which tools have changed since they were pinned. `offer` reports it. Tools of an earlier run are `cachedAt` that time. */
  check(
    server: string,
    { tools, capabilities }: Pick<ToolList, "tools" | "capabilities">,
    instructions: string | undefined,
    cachedAt?: number,
  ): void {
    this.#pins.check(server, tools, instructions, capabilities, cachedAt);
  }

  /** These tools of the server as a model may see them, and how they differ from their pins now. */
  offer(
    server: string,
    tools: readonly ToolDefinition[],
  ): { tools: ToolDefinition[]; diagnostics: Diagnostic[] } {
    return {
      tools: this.#pins.offered(server, tools),
      diagnostics: this.#pins.report(server),
    };
  }

  /** Whether a model is told the server's instructions; not while they wait for approval. */
  offersInstructions(server: string): boolean {
    const { over } = this.#options;
    return (
      this.#pins.offersInstructions(server) && (over?.guard.offersInstructions(server) ?? true)
    );
  }

  /** `check` for a list of resources or prompts. Await it before anybody is told of the list. */
  checkContent(
    entry: ServerEntry,
    listing: ContentListing,
    contents: readonly ListedContent[],
  ): Promise<Diagnostic[]> {
    if (entry.inGateway) return Promise.resolve([]);
    return this.#pins.checkContent(pinId(entry), listing, contents);
  }

  /** Whether nothing of the server may be read before its list was compared with the pins. */
  needsList(entry: ServerEntry): boolean {
    return !entry.inGateway && pinMode(entry.definition, this.#options.agent) === "block";
  }

  /** Like `recheck`, for a request for a resource or prompt whose server has listed by now. */
  recheckContent(call: GuardedCall): Promise<void> | undefined {
    if (call.subject.inGateway) return undefined;
    return this.#requireAllowed(call) ?? this.#pinsOf(call.subject).recheck(call);
  }

  /** Rejects a call that nothing allows any more: the rules may have been replaced while a person was asked. */
  #requireAllowed(call: GuardedCall, now = call.subject): Promise<void> | undefined {
    if (now === call.subject && call.decision.verdict !== "approved") return undefined;
    try {
      this.#policy.require(now, call);
      return undefined;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** False for a tool, resource or prompt that the pins keep back until somebody approves it. */
  offers(subject: Subject): boolean {
    const { source } = subject;
    if (subject.inGateway) return true;
    const pins = this.#pinsOf(subject);
    return source.kind !== "mcp" || pins.offers(source.server, pins.nameOf(subject));
  }

  /** If true, the pins keep back no tool of a server of this name, neither of the session's own nor of a shared one. */
  offersAll(server: string): boolean {
    const { over } = this.#options;
    return this.#pins.offersAll(server) && (over?.guard.offersAll(server) ?? true);
  }

  /** The results that were too long for a model: none without a `stateDir`, and none before the first call. */
  get saved(): SavedResults {
    const files = this.#loaded?.saved;
    return {
      hasAny: files?.hasText ?? false,
      names: files?.texts ?? [],
      read: async (...args) => files?.read(...args),
    };
  }

  /** The subject as rules see it now. */
  nameOf(subject: Subject): ToolName {
    return this.#policy.nameOf(subject);
  }

  /** Whether the rules allow calls of the tool, or reads of the resource or prompt. Others are not listed. */
  allows(subject: Subject): boolean {
    return this.#policy.judge(subject).kind === "allowed";
  }

  /** What becomes of a call of the tool, and why. */
  verdictOn(subject: Subject): ToolVerdict {
    const judged = this.#policy.judge(subject);
    if (judged.kind === "refused") return { kind: "refused", rule: judged.rule };
    const { source } = subject;
    const pins = this.#pinsOf(subject);
    if (source.kind === "mcp" && pins.isBlocked(source.server, pins.nameOf(subject))) {
      return {
        kind: "refused",
        rule: "pins: block",
        reason: "it has changed, and nobody has approved that",
      };
    }
    const { agent, over } = this.#options;
    const need = needOf(subject, {
      servers: this.#servers,
      agentMode: agent.guard?.approval,
      least: over?.session.approval,
    });
    if (need === undefined) return { kind: "allowed" };
    return { kind: "asks", rule: need.rule, reason: need.reason };
  }

  /** Whether the rules leave something of the server to use. */
  leaves(...asked: Parameters<Reach>): boolean {
    return this.#policy.leaves(...asked);
  }

  /** Whether the board's user is told of the server. */
  reaches(...asked: Parameters<Reach>): boolean {
    return this.#policy.reaches(...asked);
  }

  /** Whether rules are about what tools do: then a tool may be allowed or not without a change of the list. */
  get goesByEffect(): boolean {
    return this.#goesByEffect;
  }

  /** The tools of the server that are not as they were pinned; undefined if none of them is pinned. */
  unpinned(server: string): string[] | undefined {
    return this.#pins.unpinned(server);
  }

  /** When the server was pinned, in milliseconds since the epoch. */
  pinnedAt(server: string): number | undefined {
    return this.#pins.pinnedAt(server);
  }

  /** Whether only the owner may call the tool. */
  isForOwner(subject: Subject): boolean {
    return this.#policy.isForOwner(subject);
  }

  /** Whether the server's own words about the tool are believed. */
  isTrusted(subject: Subject): boolean {
    return this.#servers.own(subject).trusted === true;
  }

  /**
   * Checks a call again when its server is ready. It may have been approved while only cached tools were known, and
   * the server may have other tools: `now` is what it has in place of this one. Rejects to refuse the call; returns
   * undefined if there is nothing to await.
   */
  recheck(call: GuardedCall, now: Subject | "current" | undefined): Promise<void> | undefined {
    const refused = this.#requireAllowed(call, typeof now === "object" ? now : call.subject);
    if (refused !== undefined) return refused;
    if (now === "current" || call.decision.verdict !== "approved") {
      return this.#pinsOf(call.subject).recheck(call);
    }
    const { canonical } = call.subject;
    call.decision = { verdict: "refused", rule: "approval" };
    const message = `${sayTool(canonical)} changed after it was approved`;
    const hint = "call it again to be asked about the changed tool";
    return Promise.reject(new PlugboardError("CHANGED_TOOL", message, { hint }));
  }

  /** The chain around the calls of one subject. `make` runs with the first call, since most tools are only listed. */
  around<Answer>(subject: Subject, make: () => GuardedCallee<Answer>): Next {
    let chain: Next | undefined;
    const first: Next = async (call) => {
      const made = make();
      try {
        chain ??= (await this.#stages()).around(subject, made);
      } catch (error) {
        return made.outermost.failed(call, error);
      }
      call.now = this.#options.clock.monotonic();
      return chain(call);
    };
    return (call) => (chain ?? first)(call);
  }

  framing({ guard }: Pick<ServerDefinition, "guard">): FramingMode {
    return guard?.framing ?? this.#options.agent.guard?.framing ?? "full";
  }

  /** The framing that the configuration itself asks for; undefined where it leaves the default, or none. */
  askedFraming({ guard }: Pick<ServerDefinition, "guard">): FramingMode | undefined {
    const asked = guard?.framing ?? this.#options.agent.guard?.framing;
    return asked === "off" ? undefined : asked;
  }

  /** Frames an outcome as a model gets it; its size stays. */
  async frame(subject: Subject, outcome: CallOutcome): Promise<CallOutcome> {
    return (await this.#stages()).frame(subject, outcome);
  }

  /** Logs and audits content for a model that looks like an attempt to steer it. */
  async reportSuspicious(
    where: { server: string; tool: string },
    patterns: string[],
  ): Promise<void> {
    if (patterns.length > 0) (await this.#stages()).reportSuspicious(where, patterns);
  }

  presenter(subject: Subject): Present {
    let present: Present | undefined;
    let madeBy: CallStages | undefined;
    return async (outcome, note) => {
      const stages = this.#loaded ?? (await this.#stages());
      // A tool that somebody holds outlives a configuration.
      if (present === undefined || stages !== madeBy) present = stages.presenter(subject);
      madeBy = stages;
      return present(outcome, note);
    };
  }

  async close(): Promise<void> {
    await this.#pins.close();
    await (await this.#loading)?.close();
  }

  /** What shared servers list is pinned on the agent's board, once for all sessions; what a person's connection lists, on theirs. */
  #pinsOf(subject: Subject): Pins {
    const { over } = this.#options;
    const { source } = subject;
    if (over === undefined || source.kind !== "mcp") return this.#pins;
    const isOfAgent = over.isShared(subject) && !over.hasConnection(source.server);
    return isOfAgent ? over.guard.#pins : this.#pins;
  }

  #makePolicy(): Policy {
    const { agent, options, known, over } = this.#options;
    return createPolicy({
      rules: agent.guard?.rules ?? [],
      servers: this.#servers,
      known,
      owner: options.owner ?? false,
      showing: this.#options.showing,
      hidesRefused: over?.hidesRefused ?? false,
      effectOf: (subject) => this.#effectOf(subject),
      lookAgain: (call) => {
        const { subject } = call;
        return subject.inGateway ? undefined : this.#pinsOf(subject).lookAgain(call);
      },
    });
  }

  /** The host's own tools are believed, servers only as far as they are trusted, or their definitions pinned. */
  #effectOf(subject: Subject): ToolEffect {
    this.#goesByEffect = true;
    const { source, annotations } = subject;
    const isHarmless = saysHarmless(hintsIn(annotations));
    const isBelieved = source.kind === "native" || this.isTrusted(subject);
    return {
      mayWrite: source.kind === "native" ? mayWrite(subject) : this.#mayWrite(subject, source),
      mayDestroy: !isBelieved
        ? "the labels of its server are not believed"
        : isHarmless
          ? undefined
          : "it does not say that it destroys nothing",
    };
  }

  #mayWrite(
    subject: Subject,
    { server, tool }: Extract<Subject["source"], { kind: "mcp" }>,
  ): string | undefined {
    if (subject.origin === "session") return "nothing is pinned of a server that a session brings";
    if (subject.inGateway) {
      const changed = this.#options.gateway?.server(server)?.told.unpinned;
      if (changed === undefined) return UNPINNED.unseen;
      return changed.includes(tool) ? UNPINNED.changed : mayWrite(subject);
    }
    const pinned = this.#pinsOf(subject).pinned(server, tool);
    return typeof pinned === "string" ? UNPINNED[pinned] : mayWrite(pinned);
  }

  #stages(): Promise<CallStages> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  /** Loads the stages with the first call: listing tools does not need them, and would start slower. */
  async #load(): Promise<CallStages> {
    const { over } = this.#options;
    const [module] = await Promise.all([import("./call-stages.ts"), over && over.guard.#stages()]);
    this.#options.learnSecrets();
    // The configuration may have been replaced while this was loaded.
    this.#loaded = new module.CallStages(this.#stageOptions(over && over.guard.#loaded));
    return this.#loaded;
  }

  #stageOptions(shared: CallStages | undefined): CallStagesOptions {
    return {
      ...this.#options,
      servers: this.#servers,
      first: [this.#policy.stage, (subject) => this.#pinsOf(subject).stage(subject)],
      shared,
    };
  }
}

function guardsOf({ agent, over }: BoardGuardOptions): ServerGuards {
  return over?.servers ?? serverGuards(agent.servers);
}

/** Why a rule cannot count on what the tool says about itself. */
const UNPINNED: Readonly<Record<Unpinned, string>> = {
  off: "pins are off for its server, so nobody would notice a change",
  unseen: "its server has not been pinned yet",
  changed: "it has changed since it was pinned and nobody has approved that (plugboard pins)",
  new: "it is new on a server that was pinned before and nobody has approved it (plugboard pins)",
};

function mayWrite({ annotations }: Pick<Subject, "annotations">): string | undefined {
  return saysReadOnly(hintsIn(annotations))
    ? undefined
    : "the tool does not say that it only reads";
}

/** Nothing about a session's own servers is kept after it, so their tools cannot be pinned. */
export function pinMode({ origin, guard }: ServerDefinition, agent: AgentConfig): PinMode {
  if (origin === "session") return "off";
  return guard?.pins ?? agent.guard?.pins ?? "warn";
}

export function pinId({ name, keys }: ServerEntry): PinnedServer {
  return { server: name, key: keys.pin };
}
