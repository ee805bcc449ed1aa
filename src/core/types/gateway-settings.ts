// The settings of the gateway, checked and with every default filled in.

import type { CallQuota } from "./caller.ts";
import type { TlsFiles } from "./server-config.ts";

/**
 * PLUG on the keys of a phone. Nobody has registered it, no development tool uses it by default, and no system hands
 * it out to outgoing connections.
 */
export const DEFAULT_PORT = 7584;

/** Characters of a key of `SharedSettings`. */
export const SHORTEST_KEY = 32;

export interface GatewaySettings {
  host: string;
  port: number;
  /** Paths of PEM files. */
  tls?: { cert: string; key: string };
  /** Something in front of the gateway terminates TLS. */
  behindProxy: boolean;
  /** What clients call the gateway, without a slash at its end: `https://gateway.example.com`. */
  publicUrl?: string;
  /** Further values of the `Host` header: a host with or without a port, or `*.example.com`. */
  allowedHosts: readonly string[];
  /** Web pages that may use the gateway: `https://app.example.com`. */
  allowedOrigins: readonly string[];
  jwt?: JwtSettings;
  /** How people sign in to the page through a provider. */
  ui?: PageSettings;
  limits: GatewayLimits;
  /** Absent: only tokens have quotas. */
  quotas?: QuotaSettings;
  /** Milliseconds without a request after which a session is dropped from memory, and its own servers stop. */
  sessionTimeout: number;
  /** Milliseconds without use after which a gateway ends that a command has started in the background. */
  idleTimeout: number;
  /** Milliseconds that a call waits to be approved where its client cannot ask anybody. 0: it is refused at once. */
  approvalWait: number;
  /** Milliseconds that a gateway which stops still takes requests, while `/readyz` says that it is not ready. */
  stopDelay: number;
  /** Absent: what is shared is in the files of this machine. */
  shared?: SharedSettings;
}

/** What each caller may do whose token has no quota of its own. */
export interface QuotaSettings {
  all?: CallQuota;
  /** In place of `all`, for the calls to one agent. */
  agents: Readonly<Record<string, CallQuota>>;
}

/** What gateways on several machines share. */
export interface SharedSettings {
  postgres: PostgresSettings;
  valkey?: ValkeySettings;
  /** What is secret in PostgreSQL is encrypted under the first, and opened with any. May be references. */
  keys: readonly string[];
  /** How other gateways reach this one. May hold references. */
  replica?: { url: string };
  /** What a gateway does whose configuration is another than that of most. Absent: it says so. */
  differing?: "warn" | "unready";
  /** Milliseconds that tokens are trusted while PostgreSQL cannot say whether they were revoked. */
  maxStale: number;
}

export interface PostgresSettings {
  /** Without a password. */
  url: string;
  /** May be a reference. */
  password?: string;
  /** Absent: without TLS. */
  tls?: TlsFiles;
}

export interface ValkeySettings extends PostgresSettings {
  /** Those who know which one is the primary, as `host:port`. */
  sentinels?: readonly string[];
  /** What the sentinels call it. */
  primary?: string;
}

export interface JwtSettings {
  issuers: readonly JwtIssuer[];
  /** The first one that fits decides. Absent: the audience alone does. */
  rights?: readonly JwtRight[];
}

/** What somebody may do whose claim has one of these values. */
export interface JwtRight {
  /** The only one whose claims count. */
  issuer: string;
  /** The names that lead to the claim. */
  claim: readonly string[];
  has: readonly string[];
  /** Absent: all. */
  agents?: readonly string[];
  /** Patterns for tools. Absent: all that the agent may use. */
  allow?: readonly string[];
  role?: "owner" | "viewer";
  quota?: CallQuota;
}

export interface PageSettings {
  /** Who we are at the provider. */
  clientId: string;
  /** The `issuer` of one of `jwt.issuers`. */
  issuer: string;
  /** What is asked for, besides `openid`. */
  scopes: readonly string[];
}

export interface JwtIssuer {
  /** Exactly as tokens have it in `iss`. */
  issuer: string;
  /** Where its keys are. Default: its metadata says. */
  jwksUri?: string;
  algorithms: readonly string[];
  /** What its tokens have in `aud`. Absent: the URL of the endpoint or of the gateway. */
  audiences?: readonly string[];
}

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;

export const DEFAULT_LIMITS = {
  bodyBytes: 16 * MEBIBYTE,
  bodyValues: 50_000,
  headerBytes: 32 * KIBIBYTE,
  requestsPerMinute: 60_000,
  bytesPerMinute: 256 * MEBIBYTE,
  connections: 2000,
  sessions: 10_000,
  sessionServers: 200,
  people: 1000,
} satisfies GatewayLimits;

interface GatewayLimits {
  bodyBytes: number;
  /** Values in one request. */
  bodyValues: number;
  headerBytes: number;
  /** For each caller. */
  requestsPerMinute: number | false;
  /** Of the larger requests of each caller. A value counts as 160 bytes more, and a thousand pieces as 1000 KiB. */
  bytesPerMinute: number;
  // Of the others, one caller has a quarter at most.
  connections: number;
  sessions: number;
  /** Sessions of one agent with servers of their own. */
  sessionServers: number;
  /** People who have servers of one agent for themselves. */
  people: number;
}
