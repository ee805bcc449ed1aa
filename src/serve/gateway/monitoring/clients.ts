// Who uses the gateway: an entry for each caller, agent and program, with or without a session.

import type { Caller } from "../../../core/types/caller.ts";
import type { Clock } from "../../../util/clock.ts";

/** Programs choose their own names, so there could be any number of them. Those of a caller with more than a quarter go first. */
const MOST_CLIENTS = 500;
/** How long a client counts as present after its last request. */
const PRESENT_MS = 5 * 60_000;

export interface ClientName {
  name?: string;
  version?: string;
}

export interface SeenClient {
  /** The caller's label: the name of its token, or the subject of its JWT. */
  caller: string;
  agent: string;
  client: ClientName;
  requests: number;
  /** Milliseconds since the epoch. */
  firstSeen: number;
  lastSeen: number;
}

export class Clients {
  readonly #clock: Clock;
  /** By caller, agent and program, with the caller's id. */
  readonly #seen = new Map<string, { of: string; client: SeenClient }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Called with every request. True if this client has not been seen before. */
  seen(caller: Caller, agent: string, { name, version }: ClientName = {}): boolean {
    const key = `${caller.id}\n${agent}\n${name ?? ""}\n${version ?? ""}`;
    const now = this.#clock.now();
    const known = this.#seen.get(key);
    if (known !== undefined) {
      known.client.requests += 1;
      known.client.lastSeen = now;
      return false;
    }
    const client = {
      caller: caller.label,
      agent,
      client: { name, version },
      requests: 1,
      firstSeen: now,
      lastSeen: now,
    };
    if (this.#seen.size >= MOST_CLIENTS) this.#dropOldest();
    this.#seen.set(key, { of: caller.id, client });
    return true;
  }

  /** The client with the latest request comes first. */
  list(): SeenClient[] {
    const all = [...this.#seen.values()].map(({ client }) => client);
    return all.sort((a, b) => b.lastSeen - a.lastSeen);
  }

  /** How many have asked for something in the last minutes. */
  get present(): number {
    const since = this.#clock.now() - PRESENT_MS;
    let present = 0;
    for (const { client } of this.#seen.values()) if (client.lastSeen >= since) present += 1;
    return present;
  }

  #dropOldest(): void {
    const counts = new Map<string, number>();
    for (const { of } of this.#seen.values()) counts.set(of, (counts.get(of) ?? 0) + 1);
    let oldest: { key: string; isGreedy: boolean; lastSeen: number } | undefined;
    for (const [key, { of, client }] of this.#seen) {
      const isGreedy = (counts.get(of) ?? 0) > MOST_CLIENTS / 4;
      const goesFirst =
        oldest === undefined ||
        (isGreedy === oldest.isGreedy ? client.lastSeen < oldest.lastSeen : isGreedy);
      if (goesFirst) oldest = { key, isGreedy, lastSeen: client.lastSeen };
    }
    if (oldest !== undefined) this.#seen.delete(oldest.key);
  }
}
