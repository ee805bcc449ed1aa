// The guard of one board: which tools are there at all, what has changed about them, and the way of every
// call through its stages.

import type { Present } from "../bridge/tool.ts";
import { PinStore } from "../guard/pins/pin-store.ts";
import { Pins } from "../guard/pins/pins.ts";
import { createPolicy, type Policy } from "../guard/policy.ts";
import { type ServerGuards, serverGuards } from "../guard/server-guards.ts";
import type { AgentConfig } from "../model/agent-config.ts";
import type { BoardOptions } from "../model/board-options.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { PlugboardError } from "../model/errors.ts";
import type { GuardedCall, Next, ToolSubject } from "../model/guard.ts";
import type { FramingMode } from "../model/guard-settings.ts";
import type { Logger } from "../model/logger.ts";
import type { ServerDefinition } from "../model/server-definition.ts";
import type { ToolDefinition } from "../model/tool.ts";
import type { Redactor } from "../secrets/redactor.ts";
import type { Clock } from "../util/clock.ts";
import { oneLine } from "../util/text.ts";
import type { GuardedCalls } from "./guarded-calls.ts";
import type { ServerEntry } from "./server-entry.ts";

export interface BoardGuardOptions {
  agent: AgentConfig;
  options: BoardOptions;
  clock: Clock;
  logger: Logger;
  redactor: Redactor;
  /** Makes the secrets of all servers known, before the first call. */
  learnSecrets: () => void;
  /** Where the board is a session's. */
  session?: SessionGuard;
}

/** What the guard of a session has beside its own. */
export interface SessionGuard {
  id: string;
  /** Of the board it is laid over: its pins and limits hold for the servers that are shared. */
  guard: BoardGuard;
  /** Of both boards. */
  servers: ServerGuards;
  isShared: (subject: ToolSubject) => boolean;
}

export class BoardGuard {
  readonly #options: BoardGuardOptions;
  readonly #servers: ServerGuards;
  readonly #policy: Policy;
  readonly #pins: Pins;
  #loading: Promise<GuardedCalls> | undefined;

  constructor(given: BoardGuardOptions) {
    const { agent, options, clock, logger, session } = given;
    const { stateDir, owner = false } = options;
    this.#options = given;
    this.#servers = session?.servers ?? serverGuards(agent.servers);
    this.#policy = createPolicy({ rules: agent.guard?.rules ?? [], servers: this.#servers, owner });
    const store = new PinStore({ ...(stateDir !== undefined && { stateDir }), clock, logger });
    this.#pins = new Pins({ store, clock, logger });
  }

  /** To be awaited before the first list of tools: what they were is compared with what they are. */
  async open(entries: readonly ServerEntry[]): Promise<void> {
    await Promise.all(
      entries.map(({ definition, pinKey }) => {
        const mode = definition.guard?.pins ?? this.#options.agent.guard?.pins ?? "warn";
        const isOfSession = definition.origin === "session";
        const id = { server: definition.name, key: pinKey };
        // Nothing of a session's own servers outlives it, so there is nothing to compare them with.
        return this.#pins.open(id, isOfSession ? "off" : mode);
      }),
    );
  }

  /** What has changed since a server's tools were first seen. */
  check(server: string, tools: readonly ToolDefinition[], instructions?: string): Diagnostic[] {
    return this.#pins.check(server, tools, instructions).diagnostics;
  }

  /** What is refused by a rule is not listed either. */
  allows(subject: ToolSubject): boolean {
    return this.#policy.judge(subject).kind === "allowed";
  }

  /**
   * The last word on a call, when its server is there: one that had to be started can turn out to have
   * other tools than those the call was judged by. Rejects to refuse.
   */
  recheck(call: GuardedCall, isCurrent: boolean): Promise<void> | undefined {
    if (isCurrent || call.decision.verdict !== "approved") {
      return this.#pinsOf(call.subject).recheck(call);
    }
    const { canonical } = call.subject;
    call.decision = { verdict: "refused", rule: "approval" };
    const message = `${oneLine(canonical, 200)} changed after it was approved`;
    const hint = "call it again to be asked about it as it is now";
    return Promise.reject(new PlugboardError("CHANGED_TOOL", message, { hint }));
  }

  around(subject: ToolSubject, last: Next): Next {
    let chain: Next | undefined;
    const first: Next = async (call) => {
      chain ??= (await this.#calls()).around(subject, last);
      return chain(call);
    };
    return (call) => (chain ?? first)(call);
  }

  /** Around a request for a resource or a prompt: audited and redacted, under no rules for tools. */
  aroundContent(subject: ToolSubject, last: Next): Next {
    return async (call) => (await this.#calls()).aroundContent(subject, last)(call);
  }

  framing({ guard }: Pick<ServerDefinition, "guard">): FramingMode {
    return guard?.framing ?? this.#options.agent.guard?.framing ?? "full";
  }

  /** For the log and the audit, where something for a model looks like an attempt to steer it. */
  async suspect(where: { server: string; tool: string }, patterns: string[]): Promise<void> {
    if (patterns.length > 0) (await this.#calls()).suspect(where, patterns);
  }

  presenter(subject: ToolSubject): Present {
    let present: Present | undefined;
    return async (outcome) => {
      present ??= (await this.#calls()).presenter(subject);
      return present(outcome);
    };
  }

  async close(): Promise<void> {
    await this.#pins.flush();
    await (await this.#loading)?.close();
  }

  /** What is shared is pinned once, where it was plugged in. */
  #pinsOf(subject: ToolSubject): Pins {
    const { session } = this.#options;
    return session?.isShared(subject) ? session.guard.#pins : this.#pins;
  }

  #calls(): Promise<GuardedCalls> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async #load(): Promise<GuardedCalls> {
    const { session } = this.#options;
    const [module, shared] = await Promise.all([
      import("./guarded-calls.ts"),
      session === undefined ? undefined : session.guard.#calls(),
    ]);
    this.#options.learnSecrets();
    return new module.GuardedCalls({
      ...this.#options,
      servers: this.#servers,
      first: [this.#policy.stage, (subject) => this.#pinsOf(subject).stage(subject)],
      ...(shared !== undefined && { shared }),
    });
  }
}
