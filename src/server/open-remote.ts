// Opens a connection to a URL: Streamable HTTP, or the older SSE transport where the server knows no
// other. Remembers which of them it was.

import { readFile } from "node:fs/promises";
import { PlugboardError } from "../model/errors.ts";
import type { RemoteEndpoint } from "../model/server-definition.ts";
import type { GuardedFetch } from "../net/fetch.ts";
import type { Carrier } from "./carrier.ts";
import { httpCarrier, sseCarrier } from "./http-carrier.ts";
import { connectionOpener, type OpenConnection, type OpenerOptions } from "./open-connection.ts";

/** By these a server says that it knows nothing of POSTs to this address. */
const NOT_STREAMABLE = new Set([400, 404, 405, 406, 415]);

export interface RemoteOpenerOptions extends Omit<OpenerOptions, "carry"> {
  resolve: () => RemoteEndpoint;
  /** What the operator allows for all servers. */
  networkAllow: readonly string[];
  /** Where the proxy variables come from. */
  env: Readonly<Record<string, string | undefined>>;
}

export function remoteOpener(options: RemoteOpenerOptions): OpenConnection {
  const { kind } = options.definition.endpoint;
  let known = kind === "http" || kind === "sse" ? kind : undefined;
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
    if (known === "sse") return sse(signal, onRemains);
    try {
      const connection = await http(signal, onRemains);
      known = "http";
      return connection;
    } catch (error) {
      if (known !== undefined || !isNotStreamable(error)) throw error;
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
  { resolve, networkAllow, env, clock, definition }: RemoteOpenerOptions,
  make: typeof httpCarrier,
): Promise<Carrier> {
  const endpoint = resolve();
  const { url, headers, allowInsecure, allowPrivate } = endpoint;
  const { createFetch } = await import("../net/fetch.ts");
  const fetch: GuardedFetch = createFetch({
    policy: { allowInsecure, allowPrivate, allow: networkAllow },
    env,
    clock,
    ...(endpoint.tls !== undefined && { tls: await readTls(endpoint.tls) }),
  });
  return make({ url, headers, fetch, clock, maxMessageBytes: definition.maxMessageBytes });
}

async function readTls(
  files: NonNullable<RemoteEndpoint["tls"]>,
): Promise<{ ca?: string; cert?: string; key?: string }> {
  const read = async (path: string): Promise<string> => {
    try {
      return await readFile(path, "utf8");
    } catch (error) {
      throw new PlugboardError("UNRESOLVED_VALUE", `the file ${path} (tls) cannot be read`, {
        cause: error,
        permanent: true,
      });
    }
  };
  return {
    ...(files.ca && { ca: await read(files.ca) }),
    ...(files.cert && { cert: await read(files.cert) }),
    ...(files.key && { key: await read(files.key) }),
  };
}
