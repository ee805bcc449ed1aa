// What sign-ins leave behind: which authorization server stands for which server, the clients registered
// there, and the tokens, by issuer and resource. On disk where there is a state directory, readable by
// its owner alone; in memory otherwise.

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

/** Which authorization server answers for an MCP server, and for what. */
export interface Discovery {
  issuer: string;
  authorizationServer: string;
  /** As the server calls itself; absent where it publishes no metadata. */
  resource?: string;
  scopesSupported?: string[];
  metadata?: AuthorizationServerMetadata;
}

interface KnownServer {
  discovery: Discovery;
  /** Asked for by the server since the last sign-in. */
  wantedScope?: string;
}

export interface KnownClient {
  redirectUri: string;
  client: OAuthClientInformationMixed;
}

export interface Grant {
  tokens: OAuthTokens;
  /** Milliseconds since the epoch. */
  expiresAt?: number;
  /** What was asked for, where the answer does not say what was given. */
  scope?: string;
}

interface Documents {
  server: KnownServer;
  client: KnownClient;
  grant: Grant;
}

type Kind = keyof Documents;

export interface AuthStore {
  read<K extends Kind>(kind: K, key: string): Promise<Documents[K] | undefined>;
  write<K extends Kind>(kind: K, key: string, value: Documents[K]): Promise<void>;
  remove(kind: Kind, key: string): Promise<void>;
  /** While no other process works on that grant. */
  exclusively<Result>(key: string, task: () => Promise<Result>): Promise<Result>;
}

/** The key of a grant; `client` where the configuration names one. */
export function grantKey(discovery: Discovery, serverUrl: string, client?: string): string {
  return keyOf(discovery.issuer, discovery.resource ?? serverUrl, client ?? "");
}

export function keyOf(...parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}

/**
 * `stateDir` undefined: nothing outlives the process. `onSecret` is told every token and every client's
 * secret before anybody can use it.
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

function secretsOf({ tokens, client }: Partial<Grant & KnownClient & KnownServer>): string[] {
  const found = [tokens?.access_token, tokens?.refresh_token, client?.client_secret];
  // A file may hold anything.
  return found.filter((secret) => typeof secret === "string");
}

function fileStore(directory: string, clock: Clock): AuthStore {
  const path = (kind: Kind, key: string): string => join(directory, `${kind}-${key}.json`);
  return {
    async read<K extends Kind>(kind: K, key: string) {
      const value = await readJsonFile(path(kind, key), MAX_BYTES);
      return isJsonObject(value) && isWhole(kind, value)
        ? (value as unknown as Documents[K])
        : undefined;
    },
    write: (kind, key, value) => writeJsonFile(path(kind, key), value),
    remove: (kind, key) => rm(path(kind, key), { force: true }),
    exclusively: (key, task) => withLock(join(directory, `grant-${key}.lock`), clock, task),
  };
}

/** Files are ours, but may be of another version or broken off. */
function isWhole(kind: Kind, value: Record<string, unknown>): boolean {
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
    read: async <K extends Kind>(kind: K, key: string) =>
      held.get(`${kind}-${key}`) as Documents[K] | undefined,
    async write(kind, key, value) {
      held.set(`${kind}-${key}`, value);
    },
    async remove(kind, key) {
      held.delete(`${kind}-${key}`);
    },
    exclusively: (_key, task) => task(),
  };
}
