// What sign-ins produce: the authorization server of each MCP server, the clients registered there, and the tokens by
// issuer and resource.

import { createHash } from "node:crypto";
import type {
  AuthorizationServerMetadata,
  OAuthClientInformationMixed,
  OAuthTokens,
} from "@modelcontextprotocol/client";
import { isJsonObject, type JsonObject } from "../types/json.ts";
import type { GrantDocument, GrantStore } from "../types/shared-state.ts";

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
  /** Where the browser was sent after the sign-in, if that was not this machine. Its client is known by it. */
  redirectUri?: string;
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

interface AuthDocuments extends Record<GrantDocument, object> {
  server: DiscoveredServer;
  client: RegisteredClient;
  grant: Grant;
}

/** A `GrantStore` whose documents have their types. */
export interface AuthStore {
  read<K extends GrantDocument>(kind: K, key: string): Promise<AuthDocuments[K] | undefined>;
  write<K extends GrantDocument>(kind: K, key: string, value: AuthDocuments[K]): Promise<void>;
  remove(kind: GrantDocument, key: string): Promise<void>;
  /** False, and nothing happens, if another process has stored something else than `before`. */
  replaceGrant(key: string, before: Grant | undefined, after: Grant | undefined): Promise<boolean>;
  /** Runs the task while no other process renews this grant. */
  withLease<Result>(key: string, task: () => Promise<Result>): Promise<Result>;
}

/** The key of what is known of a server. `person` is whose it is, if not the agent's own user's. */
export function serverKey(serverUrl: string, person?: string): string {
  return keyOf(serverUrl, ...(person === undefined ? [] : [person]));
}

/** The key of a grant. `client` is the configured client id, if there is one. */
export function grantKey(
  discovery: Discovery,
  serverUrl: string,
  client?: string,
  person?: string,
): string {
  const parts = [discovery.issuer, discovery.resource ?? serverUrl, client ?? ""];
  return keyOf(...parts, ...(person === undefined ? [] : [person]));
}

/** The key of a client. One that somebody else than this machine redirects to has one for each such address. */
export function clientKey({ issuer }: Discovery, redirectUri?: string): string {
  return keyOf(issuer, ...(redirectUri === undefined ? [] : [redirectUri]));
}

export function keyOf(...parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}

/** Gets the tokens or the client secret of a document, which replace what was in it before. */
export type OnSecrets = (document: string, secrets: readonly string[]) => void;

/** `onSecrets` is called with every token and client secret before it can be used. */
export function authStore(grants: GrantStore, onSecrets: OnSecrets = () => {}): AuthStore {
  const tellSecrets = (
    kind: GrantDocument,
    key: string,
    value: Parameters<typeof secretsOf>[0],
  ): void => onSecrets(`${kind} ${key}`, secretsOf(value));
  return {
    async read<K extends GrantDocument>(kind: K, key: string) {
      const stored = await grants.read(kind, key);
      if (stored === undefined || !isWhole(kind, stored)) return undefined;
      const value = stored as unknown as AuthDocuments[K];
      tellSecrets(kind, key, value);
      return value;
    },
    write(kind, key, value) {
      tellSecrets(kind, key, value);
      return grants.write(kind, key, toJson(value));
    },
    remove: (kind, key) => grants.remove(kind, key),
    replaceGrant(key, before, after) {
      tellSecrets("grant", key, after ?? {});
      return grants.replace("grant", key, before && toJson(before), after && toJson(after));
    },
    withLease: (key, task) => grants.withLease(key, task),
  };
}

/** As it is read back: without members that are undefined. */
function toJson(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value));
}

function secretsOf({
  tokens,
  client,
}: Partial<Grant & RegisteredClient & DiscoveredServer>): string[] {
  const found = [tokens?.access_token, tokens?.refresh_token, client?.client_secret];
  // It may have been edited.
  return found.filter((secret) => typeof secret === "string");
}

/** It may come from another version. */
function isWhole(kind: GrantDocument, value: Record<string, unknown>): boolean {
  switch (kind) {
    case "server":
      return isJsonObject(value.discovery) && typeof value.discovery.issuer === "string";
    case "client":
      return isJsonObject(value.client) && typeof value.client.client_id === "string";
    case "grant":
      return isJsonObject(value.tokens) && typeof value.tokens.access_token === "string";
  }
}
