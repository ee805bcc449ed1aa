// Opens a connection to a URL: Streamable HTTP, or the older SSE transport where the server knows no
// other. Remembers which of them it was.

import type { Authorizer } from "../model/authorization.ts";
import type { RemoteTransportKind } from "../model/connection.ts";
import { PlugboardError } from "../model/errors.ts";
import type { RemoteEndpoint } from "../model/server-definition.ts";
import type { Carrier } from "./carrier.ts";
import { httpCarrier, sseCarrier } from "./http-carrier.ts";
import { connectionOpener, type OpenConnection, type OpenerOptions } from "./open-connection.ts";

/** By these a server says that it knows nothing of POSTs to this address. */
const NOT_STREAMABLE = new Set([400, 404, 405, 406, 415]);

export interface RemoteOpenerOptions extends Omit<OpenerOptions, "carry"> {
  resolve: () => RemoteEndpoint;
  /** What it was in an earlier run; counts where the definition leaves it open. */
  transport?: RemoteTransportKind;
  /** What the operator allows for all servers. */
  networkAllow: readonly string[];
  /** Where the proxy variables come from. */
  env: Readonly<Record<string, string | undefined>>;
  /** Holds the server's tokens; undefined where the configured headers say who is calling. */
  authorize?: (endpoint: RemoteEndpoint) => Promise<Authorizer | undefined>;
}

export function remoteOpener(options: RemoteOpenerOptions): OpenConnection {
  const { kind } = options.definition.endpoint;
  const configured = kind === "http" || kind === "sse" ? kind : undefined;
  let known = configured ?? options.transport;
  const http = connectionOpener({
    ...options,
    carry: () => carry(options, httpCarrier),
    // Nothing dies of the question here, and a stateless conversation has no session to lose.
    era: options.era ?? "modern",
  });
  const sse = connectionOpener({
    ...options,
    carry: () => carry(options, sseCarrier),
    era: "legacy",
  });
  return async (signal, onRemains) => {
    if (known === "sse") {
      return sse(signal, onRemains).catch((error: unknown) => {
        // It may have been replaced: the next attempt asks anew.
        if (isNotStreamable(error)) known = configured;
        throw error;
      });
    }
    try {
      const connection = await http(signal, onRemains);
      known = "http";
      return connection;
    } catch (error) {
      if (configured !== undefined || !isNotStreamable(error)) throw error;
      const connection = await sse(signal, onRemains).catch((second: unknown) => {
        throw second instanceof PlugboardError && second.code === "REFUSED_ADDRESS"
          ? second
          : error;
      });
      known = "sse";
      return connection;
    }
  };
}

function isNotStreamable(error: unknown): boolean {
  return error instanceof PlugboardError && NOT_STREAMABLE.has(error.status ?? 0);
}

async function carry(
  { resolve, networkAllow, env, clock, definition, authorize }: RemoteOpenerOptions,
  make: typeof httpCarrier,
): Promise<Carrier> {
  const endpoint = resolve();
  const { url, headers } = endpoint;
  const { endpointFetch } = await import("../net/endpoint-fetch.ts");
  const fetch = await endpointFetch(endpoint, { networkAllow, env, clock });
  const authorizer = await authorize?.(endpoint);
  return make({
    url,
    headers,
    fetch,
    clock,
    maxMessageBytes: definition.maxMessageBytes,
    ...(authorizer !== undefined && { authorizer }),
  });
}
