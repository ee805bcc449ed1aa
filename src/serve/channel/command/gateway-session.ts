// One session of this command in a gateway: what it calls and reads goes over the link, under the session's rules, and what
// that asks comes back to the command. Imports little, since a single warm call pays for every module.

import type { CallerOptions } from "../../../core/types/caller-options.ts";
import { PlugboardError, withPossibleEffect } from "../../../core/types/errors.ts";
import type { BoardEvents } from "../../../core/types/events.ts";
import type { JsonObject } from "../../../core/types/json.ts";
import type { BoardInGateway } from "../../../core/types/gateway-port.ts";
import type { CallOutcome, Tool, UpdateListener } from "../../../core/types/tool.ts";
import type { Link } from "../link.ts";
import { AnsweredQuestions } from "../questions.ts";
import type { OpenRequest, SessionEvent, WireCallerOptions } from "../wire.ts";

export type EventListener = <Name extends SessionEvent>(
  event: Name,
  value: BoardEvents[Name],
) => void;

export interface GatewaySessionOptions extends Omit<BoardInGateway, "onNotice"> {
  agent: string;
  onEvent?: EventListener;
}

export class GatewaySession {
  readonly link: Link;
  readonly #sessions: LinkSessions;
  readonly #number: number;
  readonly #onEvent: EventListener | undefined;
  /** Lets go of the session's own handlers. */
  #release: (() => void) | undefined;

  private constructor(link: Link, onEvent: EventListener | undefined) {
    this.link = link;
    this.#onEvent = onEvent;
    this.#sessions = LinkSessions.of(link);
    this.#number = this.#sessions.add(this);
  }

  /** Rejects as `openSession` does, and with SERVER_UNAVAILABLE if the link ends. */
  static async open(
    link: Link,
    { agent, onEvent, onApproval, onElicitation, onSampling, ...options }: GatewaySessionOptions,
  ): Promise<GatewaySession> {
    const session = new GatewaySession(link, onEvent);
    const { wire = {}, release } = session.#sessions.questions.take({
      onApproval,
      onElicitation,
      onSampling,
    });
    session.#release = release;
    const request: OpenRequest = { session: session.#number, agent, options, handlers: wire };
    try {
      await link.request("session/open", request);
    } catch (error) {
      session.#leave();
      throw error;
    }
    return session;
  }

  /** `name` is `server/tool` or `native/tool`. Rejects if there is no outcome. */
  callTool(
    name: string,
    args: JsonObject,
    given: CallerOptions & { onUpdate?: UpdateListener | undefined },
  ): Promise<CallOutcome> {
    const { wire, release } = this.#with(given);
    const { signal, onUpdate } = given;
    const params = { session: this.#number, name, args, options: wire, updates: onUpdate && true };
    return new Promise((resolve, reject) => {
      const answered = {
        answer: (outcome: unknown) => {
          release?.();
          resolve(outcome as CallOutcome);
        },
        fail: (error: PlugboardError) => {
          release?.();
          reject(this.#lost(error));
        },
      };
      const update = onUpdate as ((value: unknown) => void) | undefined;
      this.link.start("tools/call", params, answered, { signal, onUpdate: update });
    });
  }

  /** Also finds tools that the rules hide. Rejects as `board.find` does. */
  async find(
    name: string,
    signal?: AbortSignal,
  ): Promise<{ tool: Omit<Tool, "execute">; isListed: boolean }> {
    const found = await this.link.request(
      "tools/find",
      { session: this.#number, name },
      { signal },
    );
    return found as { tool: Omit<Tool, "execute">; isListed: boolean };
  }

  /** Asks for something that is no call of a tool. */
  async request(method: string, params: object, given: CallerOptions = {}): Promise<unknown> {
    const { wire, release } = this.#with(given);
    const { signal } = given;
    try {
      const asked = { session: this.#number, ...params, options: wire };
      return await this.link.request(method, asked, { signal });
    } finally {
      release?.();
    }
  }

  notify(method: string, params: object): void {
    this.link.notify(method, { session: this.#number, ...params });
  }

  emit(event: SessionEvent, value: never): void {
    this.#onEvent?.(event, value);
  }

  async close(): Promise<void> {
    this.#leave();
    // A gateway that is gone has closed it.
    await this.link.request("session/close", { session: this.#number }).catch(() => {});
  }

  #leave(): void {
    this.#sessions.delete(this.#number);
    this.#release?.();
    this.#release = undefined;
  }

  #with({
    callId,
    caller,
    approvalsOf,
    meta,
    input,
    clientCapabilities,
    ...handlers
  }: CallerOptions): {
    wire: WireCallerOptions;
    release: (() => void) | undefined;
  } {
    const { wire, release } = this.#sessions.questions.take(handlers);
    const given = { callId, caller, approvalsOf, meta, input, clientCapabilities };
    return { wire: { ...given, handlers: wire }, release };
  }

  /** If the gateway went away during a call, nobody knows whether the call has run. */
  #lost(error: PlugboardError): PlugboardError {
    if (this.link.isOpen || error.hasNotRun || error.code !== "SERVER_UNAVAILABLE") return error;
    const message = "the gateway stopped during the call; it may have run";
    return withPossibleEffect(new PlugboardError("SERVER_UNAVAILABLE", message, { quote: "" }));
  }
}

/** The sessions of a command that use one link. */
class LinkSessions {
  static readonly #known = new WeakMap<Link, LinkSessions>();
  readonly questions: AnsweredQuestions;
  readonly #sessions = new Map<unknown, GatewaySession>();
  #last = 0;

  static of(link: Link): LinkSessions {
    const known = LinkSessions.#known.get(link) ?? new LinkSessions(link);
    LinkSessions.#known.set(link, known);
    return known;
  }

  private constructor(link: Link) {
    this.questions = new AnsweredQuestions(link);
    link.hear("session/event", ({ session, event, value }) =>
      this.#sessions.get(session)?.emit(event as SessionEvent, value as never),
    );
  }

  add(session: GatewaySession): number {
    this.#last += 1;
    this.#sessions.set(this.#last, session);
    return this.#last;
  }

  delete(session: number): void {
    this.#sessions.delete(session);
  }
}
