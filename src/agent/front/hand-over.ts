// How the board of a session reaches the agent: as the one entry of `mcpServers`, unless the agent needs another way.

import type { SessionEndpoint } from "../../serve/endpoint/session-endpoint.ts";
import type { SessionEndpoints } from "../../serve/endpoint/session-endpoints.ts";
import type { JsonObject } from "../../core/types/json.ts";

export interface HandOverRequest {
  kind: "new" | "load" | "resume" | "fork";
  /** The client's, without `mcpServers`. */
  params: JsonObject;
  /** The id of the session that is loaded, resumed or forked. */
  sessionId?: string;
}

/** An agent that connects to its board only when a prompt comes. */
export interface LateConnection {
  /** How many milliseconds after the first prompt its user is told that it has not. */
  withinMs: number;
  /** Why that may be, and what to do: the end of a sentence, and more. */
  hint: string;
}

export interface HandOver {
  /** Absent: the agent connects when its session opens. */
  readonly lateConnection?: LateConnection;
  /** Before the agent hears of the session. */
  prepare(request: HandOverRequest): Promise<Prepared>;
  close(): Promise<void>;
}

export interface Prepared {
  endpoint: SessionEndpoint;
  /** The params that the agent gets, `mcpServers` included. Called after the endpoint serves the board. */
  params(): Promise<JsonObject>;
  /** The agent has answered. What the client asks for in the session waits for this. */
  opened?(sessionId: string): Promise<void>;
  /** Resolves when the agent cannot use the board any more, until somebody asks for the session again. Never rejects. */
  readonly gone?: Promise<void>;
  /** The session is over, or did not open. Idempotent; also closes the endpoint. */
  release(): Promise<void>;
}

/** For agents that read `mcpServers`. All of them start programs; `agentTakesHttp` says whether this one takes URLs. */
export function mcpServersHandOver(
  endpoints: SessionEndpoints,
  agentTakesHttp: () => boolean,
): HandOver {
  return handOver(endpoints, (endpoint) => [agentTakesHttp() ? endpoint.http : endpoint.stdio]);
}

/** For agents that never read `mcpServers`: they get the board by another way, before they start. */
export function noServersHandOver(endpoints: SessionEndpoints): HandOver {
  return handOver(endpoints, () => []);
}

function handOver(
  endpoints: SessionEndpoints,
  serversFor: (endpoint: SessionEndpoint) => object[],
): HandOver {
  return {
    async prepare({ params }) {
      const endpoint = await endpoints.reserve();
      return {
        endpoint,
        params: async () => ({ ...params, mcpServers: serversFor(endpoint) }),
        release: () => endpoint.close(),
      };
    },
    close: () => endpoints.close(),
  };
}
