// The last states of each server, and why it was in them: what a person wants to know after something went wrong.

import type { ServerEvent } from "../../../core/types/events.ts";
import type { ServerState, ServerStateKind } from "../../../core/types/server-state.ts";
import type { Clock } from "../../../util/clock.ts";

const MOST_STATES = 50;
/** Servers come and go with edits of the configuration. */
const MOST_SERVERS = 500;

export interface PastState {
  /** Milliseconds since the epoch. */
  at: number;
  state: ServerStateKind;
  /** Why it failed, in the words of the error. */
  why?: string;
}

export class ServerHistory {
  readonly #clock: Clock;
  readonly #states = new Map<string, PastState[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(agent: string, { server, state }: Pick<ServerEvent, "server" | "state">): void {
    const key = keyOf(agent, server);
    const states = this.#states.get(key) ?? [];
    this.#states.delete(key);
    this.#states.set(key, states);
    const why = whyOf(state);
    states.push({ at: this.#clock.now(), state: state.kind, ...(why !== undefined && { why }) });
    if (states.length > MOST_STATES) states.shift();
    const [oldest] = this.#states.keys();
    if (oldest !== undefined && this.#states.size > MOST_SERVERS) this.#states.delete(oldest);
  }

  /** The oldest first. */
  of(agent: string, server: string): readonly PastState[] {
    return this.#states.get(keyOf(agent, server)) ?? [];
  }
}

/** One text for a server of an agent. */
export function keyOf(agent: string, server: string): string {
  return `${agent}\n${server}`;
}

function whyOf(state: ServerState): string | undefined {
  return state.kind === "failed" || state.kind === "backoff" ? state.error.message : undefined;
}
