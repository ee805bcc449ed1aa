// A board served over real sockets, and the official clients that talk to it: version 1 of the SDK, and version 2 in
// both eras. Everything is closed at the end of each test.

import { createSecretKey, randomBytes, randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { Shares } from "../../../src/util/shares.ts";
import type { AddressInfo } from "node:net";
import {
  Client as ModernClient,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterEach } from "vitest";
import type { EndpointOptions } from "../../../src/serve/endpoint/context.ts";
import { Endpoint } from "../../../src/serve/endpoint/endpoint.ts";
import { McpEntry } from "../../../src/serve/endpoint/http/entry.ts";
import { Sessions, type SessionsOptions } from "../../../src/serve/endpoint/http/sessions.ts";
import { Sealer } from "../../../src/serve/endpoint/sealed.ts";
import type { Board } from "../../../src/core/types/board.ts";
import { silentLogger } from "../../../src/core/types/logger.ts";
import type { SessionNotes } from "../../../src/core/types/shared-state.ts";
import { systemClock } from "../../../src/util/clock.ts";

const closers: (() => unknown)[] = [];

/** To be called once at the top of a suite, after `closeBoards`. */
export function closeServed(): void {
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
}

/** What must be the same before and after a restart. */
export interface Kept {
  sealer: Sealer;
  store: SessionsOptions["store"];
}

export function newKept(): Kept {
  const key = { id: 7, key: createSecretKey(randomBytes(32)) };
  const notes = new Map<string, SessionNotes>();
  const revoked = new Set<string>();
  return {
    sealer: new Sealer({ current: key, find: (id) => (id === 7 ? key : undefined) }, randomBytes),
    store: {
      isRevoked: (nonce) => revoked.has(nonce),
      revoke: async (nonce) => void revoked.add(nonce),
      get: (nonce) => notes.get(nonce),
      set: async (nonce, _expiresAt, value) => void notes.set(nonce, value),
    },
  };
}

export interface Served {
  url: URL;
  endpoint: Endpoint;
  sessions: Sessions;
  server: Server;
  close(): Promise<void>;
}

/** The header `x-caller` says who calls. */
export async function serve(
  board: Board,
  options: Partial<EndpointOptions> & {
    kept?: Kept;
    idleMs?: number;
    most?: number;
    maxBodyBytes?: number;
    bodies?: Shares;
    countBytes?: (bytes: number) => number;
    port?: number;
  } = {},
): Promise<Served> {
  const {
    kept = newKept(),
    idleMs = 60_000,
    most = 1000,
    maxBodyBytes = 1_000_000,
    bodies,
    countBytes,
    port = 0,
    ...rest
  } = options;
  const common = { newId: randomUUID, clock: systemClock, logger: silentLogger, ...rest };
  const endpoint = new Endpoint({ board, sealer: kept.sealer, ...common });
  const sessions = new Sessions({ ...kept, ...common, idleMs, most });
  const entry = new McpEntry({ sessions, maxBodyBytes, bodies });
  const lease = { endpoint, release: () => {} };
  const server = createServer((request, reply) => {
    const name = String(request.headers["x-caller"] ?? "alice");
    const caller = { id: `token:${name}`, label: name };
    const endpointFor = () => lease;
    void entry.handle(request, reply, { caller, agent: "default", endpointFor, countBytes });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  const close = async (): Promise<void> => {
    endpoint.close();
    sessions.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  closers.push(close);
  return { url, endpoint, sessions, server, close };
}

type Capabilities = ConstructorParameters<typeof ModernClient>[1];

type SetUp = (client: ModernClient) => void;

export async function connectModern(
  url: URL,
  options: Capabilities = {},
  setUp?: SetUp,
  caller?: string,
): Promise<ModernClient> {
  const versionNegotiation = { mode: { pin: "2026-07-28" } } as const;
  return connect(url, { ...options, versionNegotiation }, setUp, caller);
}

export async function connectLegacy(
  url: URL,
  options: Capabilities = {},
  setUp?: SetUp,
  caller?: string,
): Promise<ModernClient> {
  return connect(url, { ...options, versionNegotiation: { mode: "legacy" } }, setUp, caller);
}

async function connect(
  url: URL,
  options: Capabilities,
  setUp: SetUp = () => {},
  caller = "alice",
): Promise<ModernClient> {
  const client = new ModernClient({ name: "test", version: "2" }, options);
  setUp(client);
  const requestInit = { headers: { "x-caller": caller } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  closers.push(() => client.close());
  return client;
}

export async function connectOld(
  url: URL,
  options: ConstructorParameters<typeof OldClient>[1] = {},
  setUp: (client: OldClient) => void = () => {},
): Promise<OldClient> {
  const client = new OldClient({ name: "test", version: "1" }, options);
  setUp(client);
  await client.connect(new OldTransport(url));
  closers.push(() => client.close());
  return client;
}

/** As a test reads it. */
// oxlint-disable-next-line typescript/no-explicit-any
export type JsonRpc = Record<string, any>;

export interface RawAnswer {
  status: number;
  headers: Headers;
  /** The last message of the response, or undefined if it has none. */
  message: JsonRpc | undefined;
}

/** A request by hand. */
export async function post(
  url: URL,
  body: unknown,
  headers: Record<string, string> = {},
  method = "POST",
): Promise<RawAnswer> {
  const response = await fetch(url, {
    method,
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const last =
    text.startsWith(":") || text.startsWith("event")
      ? text
          .match(/data: .*/g)
          ?.at(-1)
          ?.slice(6)
      : text;
  return {
    status: response.status,
    headers: response.headers,
    message: last === undefined || last === "" ? undefined : JSON.parse(last),
  };
}

let ids = 0;

/** Of 2025-11-25. */
export function legacy(method: string, params: object = {}): JsonRpc {
  ids += 1;
  return { jsonrpc: "2.0", id: ids, method, params };
}

export const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "raw", version: "0" },
};

/** Of 2026-07-28, with its headers. */
export function modern(
  method: string,
  params: Record<string, unknown> = {},
  capabilities: object = {},
): { body: JsonRpc; headers: Record<string, string> } {
  ids += 1;
  const name = params["name"] ?? params["uri"];
  return {
    body: {
      jsonrpc: "2.0",
      id: ids,
      method,
      params: {
        ...params,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": capabilities,
          ...(params["_meta"] as object),
        },
      },
    },
    headers: {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof name === "string" && { "mcp-name": name }),
    },
  };
}
