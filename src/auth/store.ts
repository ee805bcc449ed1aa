// Stores what sign-ins produce: the authorization server of each MCP server, the clients registered there, and the
// tokens by issuer and resource. On disk if there is a state directory, readable only by its owner; otherwise in
// memory.

import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type {
  AuthorizationServerMetadata,
  OAuthClientInformationMixed,
  OAuthTokens,
} from "@modelcontextprotocol/client";
import { isJsonObject } from "../model/json.ts";
import { readJsonFile, writeJsonFile } from "../state/json-file.ts";
import { withLock } from "../state/lock.ts";
import type { Clock } from "../util/clock.ts";

const MAX_BYTES = 1024 * 1024;

/** The authorization server of an MCP server, and what it supports. */
export interface Discovery {
  issuer: string;
  authorizationServer: string;
  /** The server's own name for itself; missing if it publishes no metadata. */
  resource?: string;
  scopesSupported?: string[];
  metadata?: AuthorizationServerMetadata;
}

interface DiscoveredServer {
  discovery: Discovery;
  /** The scope that the server has required since the last sign-in. */
  wantedScope?: string;
}

interface RegisteredClient {
  redirectUri: string;
  client: OAuthClientInformationMixed;
}

export interface Grant {
  tokens: OAuthTokens;
  /** Milliseconds since the epoch. */
  expiresAt?: number;
  /** The granted scope, or the requested one if the token response names none. */
  scope?: string;
}

interface AuthDocuments {
  server: DiscoveredServer;
  client: RegisteredClient;
  grant: Grant;
}

type DocumentKind = keyof AuthDocuments;

export interface AuthStore {
  read<K extends DocumentKind>(kind: K, key: string): Promise<AuthDocuments[K] | undefined>;
  write<K extends DocumentKind>(kind: K, key: string, value: AuthDocuments[K]): Promise<void>;
  remove(kind: DocumentKind, key: string): Promise<void>;
  /** Runs the task while no other process works on this grant. */
  exclusively<Result>(key: string, task: () => Promise<Result>): Promise<Result>;
}

/** The key of a grant. `client` is the configured client id, if there is one. */
export function grantKey(discovery: Discovery, serverUrl: string, client?: string): string {
  return keyOf(discovery.issuer, discovery.resource ?? serverUrl, client ?? "");
}

export function keyOf(...parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}

/**
 * Without a `stateDir` nothing outlives the process. `onSecret` is called with every token and client secret
 * before it can be used.
 */
export function openAuthStore(
  stateDir: string | undefined,
  clock: Clock,
  onSecret: (secret: string) => void = () => {},
): AuthStore {
  const store = stateDir === undefined ? memoryStore() : fileStore(join(stateDir, "auth"), clock);
  return {
    ...store,
    async read(kind, key) {
      const value = await store.read(kind, key);
      for (const secret of secretsOf(value ?? {})) onSecret(secret);
      return value;
    },
    write(kind, key, value) {
      for (const secret of secretsOf(value)) onSecret(secret);
      return store.write(kind, key, value);
    },
  };
}

function secretsOf({
  tokens,
  client,
}: Partial<Grant & RegisteredClient & DiscoveredServer>): string[] {
  const found = [tokens?.access_token, tokens?.refresh_token, client?.client_secret];
  // The file may have been edited.
  return found.filter((secret) => typeof secret === "string");
}

function fileStore(directory: string, clock: Clock): AuthStore {
  const path = (kind: DocumentKind, key: string): string => join(directory, `${kind}-${key}.json`);
  return {
    async read<K extends DocumentKind>(kind: K, key: string) {
      const value = await readJsonFile(path(kind, key), MAX_BYTES);
      return isJsonObject(value) && isWhole(kind, value)
        ? (value as unknown as AuthDocuments[K])
        : undefined;
    },
    write: (kind, key, value) => writeJsonFile(path(kind, key), value),
    remove: (kind, key) => rm(path(kind, key), { force: true }),
    exclusively: (key, task) => withLock(join(directory, `grant-${key}.lock`), clock, task),
  };
}

/** A file may come from another version. */
function isWhole(kind: DocumentKind, value: Record<string, unknown>): boolean {
  switch (kind) {
    case "server":
      return isJsonObject(value.discovery) && typeof value.discovery.issuer === "string";
    case "client":
      return isJsonObject(value.client) && typeof value.client.client_id === "string";
    case "grant":
      return isJsonObject(value.tokens) && typeof value.tokens.access_token === "string";
  }
}

function memoryStore(): AuthStore {
  const held = new Map<string, unknown>();
  return {
    read: async <K extends DocumentKind>(kind: K, key: string) =>
      held.get(`${kind}-${key}`) as AuthDocuments[K] | undefined,
    async write(kind, key, value) {
      held.set(`${kind}-${key}`, value);
    },
    async remove(kind, key) {
      held.delete(`${kind}-${key}`);
    },
    exclusively: (_key, task) => task(),
  };
}
