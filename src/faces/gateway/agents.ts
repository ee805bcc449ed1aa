// The agents that a gateway serves: opens their boards when they are first asked for, and decides which endpoint answers
// a caller.

import type { Lease, Owner } from "../../endpoint/http/sessions.ts";
import type { EndpointOptions } from "../../endpoint/context.ts";
import { Endpoint } from "../../endpoint/endpoint.ts";
import type { Board } from "../../model/board.ts";
import type { Caller, TokenPolicy } from "../../model/caller.ts";

/** Who has come in, and what they may do beyond the rules of the agent. */
export interface Visitor {
  caller: Caller;
  policy?: TokenPolicy;
}

export interface GatewayAgentsOptions extends Omit<EndpointOptions, "board"> {
  /** Opens an agent's board. Undefined if there is no such agent. */
  open: (id: string) => Promise<Board | undefined>;
}

type Session = Parameters<Owner["endpointFor"]>[0];

export class GatewayAgents {
  readonly #options: GatewayAgentsOptions;
  readonly #agents = new Map<string, ServedAgent | undefined>();
  readonly #opening = new Map<string, Promise<ServedAgent | undefined>>();

  constructor(options: GatewayAgentsOptions) {
    this.#options = options;
  }

  /** Undefined for an agent that is not configured. The first request for an agent opens its board. */
  find(id: string): ServedAgent | undefined | Promise<ServedAgent | undefined> {
    return this.#agents.get(id) ?? this.#opening.get(id) ?? this.#open(id);
  }

  /** The agents whose boards are open. */
  list(): readonly ServedAgent[] {
    return [...this.#agents.values()].filter((agent) => agent !== undefined);
  }

  /** Ends the streams of changes, so that clients know that nothing more comes. */
  endStreams(): void {
    for (const { endpoint } of this.list()) endpoint.close();
  }

  async close(): Promise<void> {
    await Promise.all(this.#opening.values());
    await Promise.all(this.list().map(({ board }) => board.close()));
  }

  #open(id: string): Promise<ServedAgent | undefined> {
    const opening = this.#options
      .open(id)
      .then((board) => {
        const agent = board && new ServedAgent(id, board, this.#options);
        if (agent !== undefined) this.#agents.set(id, agent);
        return agent;
      })
      .finally(() => this.#opening.delete(id));
    this.#opening.set(id, opening);
    return opening;
  }
}

/** One agent: its board, and the endpoint that serves it to most callers. */
export class ServedAgent {
  readonly id: string;
  readonly board: Board;
  readonly endpoint: Endpoint;
  readonly #lease: Lease;

  constructor(id: string, board: Board, options: Omit<EndpointOptions, "board">) {
    this.id = id;
    this.board = board;
    this.endpoint = new Endpoint({ ...options, board });
    this.#lease = { endpoint: this.endpoint, release: () => {} };
  }

  /** Without a session: for a request that stands for itself. */
  endpointFor(_visitor: Visitor, _session: Session): Lease | Promise<Lease> {
    return this.#lease;
  }
}
