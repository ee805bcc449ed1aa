// The schema of one server, key by key, and those of its parts that agents and files have too. Which keys must
// come together is checked after merging.

import { isJsonObject } from "../../model/json.ts";
import type {
  AcpServerConfig,
  ServerAuth,
  ServerConfig,
  SessionServerConfig,
} from "../../model/server-config.ts";
import type { Provenance } from "../../model/server-offer.ts";
import {
  byType,
  either,
  flag,
  integer,
  listOf,
  mapOf,
  object,
  oneOf,
  type Schema,
  schema,
  text,
  textOrEmpty,
  verified,
} from "./schema.ts";
import { atValue } from "../issue.ts";
import {
  bytes,
  headerNameProblem,
  headerValueProblem,
  milliseconds,
  resolvable,
  resolvableDirectory,
  resolvableOrEmpty,
  resolvablePart,
  resolvablePath,
  resolvableUrl,
} from "./values.ts";

const MEBIBYTE = 1024 * 1024;

const OF_A_SESSION =
  "is for servers in an editor, which only the editor itself can bring into a session; expected one of stdio, http, sse, streamable-http";

const LOADS_CODE = /^(NODE_OPTIONS|PYTHONSTARTUP|LD_.*|DYLD_.*|BASH_FUNC_.*)$/i;

const ALGORITHMS = [
  "ES256",
  "ES384",
  "ES512",
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
];

// How to reach a server

const transport = either(
  [(value) => value === "acp", schema<never>((_, path) => [atValue(path, OF_A_SESSION)])],
  [() => true, oneOf(["stdio", "http", "sse", "streamable-http"])],
  "a transport",
);

const auth = byType<ServerAuth>(
  {
    bearer: object({ type: oneOf(["bearer"]), token: resolvablePart() }),
    "api-key": object({
      type: oneOf(["api-key"]),
      key: resolvable(),
      header: verified(headerNameProblem).optional(),
    }),
  },
  'an object { type: "bearer", token } or { type: "api-key", key }',
);

const oauth = either(
  [(value) => typeof value === "boolean", flag()],
  [
    isJsonObject,
    object({
      grant: oneOf(["authorization_code", "client_credentials"]).optional(),
      clientId: resolvable().optional(),
      clientSecret: resolvable().optional(),
      privateKey: resolvable().optional(),
      algorithm: oneOf(ALGORITHMS).optional(),
      clientMetadataUrl: verified(metadataUrlProblem).optional(),
      scope: text().optional(),
      issuer: resolvableUrl().optional(),
      redirectUri: verified(redirectUriProblem).optional(),
    }),
  ],
  "true, false or an object",
);

const tls = object({
  ca: resolvablePath().optional(),
  cert: resolvablePath().optional(),
  key: resolvablePath().optional(),
});

const connection = {
  transport: transport.optional(),
  type: transport.optional(),
  command: resolvablePath().optional(),
  args: listOf(resolvableOrEmpty()).optional(),
  env: mapOf(resolvableOrEmpty(), variableNameProblem).optional(),
  cwd: resolvablePath().optional(),
  workingDir: resolvablePath().optional(),
  url: resolvableUrl().optional(),
  headers: mapOf(resolvableOrEmpty(headerValueProblem), headerNameProblem).optional(),
  auth: auth.optional(),
  oauth: oauth.optional(),
  tls: tls.optional(),
  allowInsecure: flag().optional(),
  allowPrivate: flag().optional(),
};

/** A variable that makes a program load foreign code before it starts. */
export function isRefusedVariable(name: string): boolean {
  return LOADS_CODE.test(name);
}

function variableNameProblem(name: string): string | undefined {
  if (name === "" || /[=\p{Cc}]/u.test(name)) {
    return 'is not a name for a variable; expected one without "=" and control characters';
  }
  if (isRefusedVariable(name)) {
    return "is refused: it can load foreign code into the server; expected it in a wrapper script, where it is needed";
  }
  return undefined;
}

/** The URL is sent as the client's id, so the authorization server must be able to look it up. */
function metadataUrlProblem(url: string): string | undefined {
  const isFit =
    URL.canParse(url) && new URL(url).protocol === "https:" && new URL(url).pathname !== "/";
  return isFit ? undefined : "is not the address of a document; expected an https URL with a path";
}

function redirectUriProblem(uri: string): string | undefined {
  return URL.canParse(uri) && /^https?:$/.test(new URL(uri).protocol)
    ? undefined
    : "is not a URL; expected one such as http://127.0.0.1:8123/callback";
}

// How to treat it

export const patterns = listOf(text());

/** The keys of a block of rules. */
export const toolRules = {
  allow: patterns.optional(),
  deny: patterns.optional(),
  ownerOnly: either(
    [(value) => typeof value === "boolean", flag()],
    [Array.isArray, patterns],
    "true, false or a list of tools",
  ).optional(),
};

export const approval = oneOf(["never", "ask", "destructive"]);

export const framing = oneOf(["full", "compact", "off"]);

export const pins = oneOf(["off", "warn", "block"]);

const includeMode = oneOf(["always", "manual", "agent"]);

export const include = either(
  [(value) => typeof value === "string", includeMode],
  [isJsonObject, object({ default: includeMode.optional(), tools: mapOf(includeMode).optional() })],
  "always, manual, agent or an object { default, tools }",
);

export const roots = either(
  [(value) => typeof value === "boolean", flag()],
  [Array.isArray, listOf(resolvableDirectory())],
  "true, false or a list of directories",
);

const rateLimit = either(
  [(value) => value === false, schema<false>(() => [])],
  [() => true, integer(1, 1_000_000, " of calls a minute", ", or false")],
  "a number",
);

/** One value for all tools of a server, or `{ default, tools }`. */
function perTool<Value>(value: Schema<Value>) {
  return either(
    [isJsonObject, object({ default: value.optional(), tools: mapOf(value).optional() })],
    [() => true, value],
    "a value or an object { default, tools }",
  );
}

function toolPrefixProblem(prefix: string): string | undefined {
  return /^[A-Za-z0-9_-]{1,64}$/.test(prefix)
    ? undefined
    : "is not a prefix for tool names; expected 1 to 64 of A-Z a-z 0-9 _ -";
}

const resources = either(
  [(value) => typeof value === "boolean", flag()],
  [(value) => typeof value === "string", oneOf(["context", "list"])],
  "true, false, context or list",
);

const treatment = {
  enabled: flag().optional(),
  timeout: milliseconds().optional(),
  toolTimeout: milliseconds().optional(),
  restartOnCrash: flag().optional(),
  maxRestarts: integer(0, 1000).optional(),
  lazy: flag().optional(),
  idleTimeout: milliseconds(0).optional(),
  keepAlive: flag().optional(),
  scope: oneOf(["shared", "session"]).optional(),
  protocol: oneOf(["auto", "legacy", "2026-07-28"]).optional(),
  toolPrefix: verified(toolPrefixProblem).optional(),
  include: include.optional(),
  tools: object(toolRules).optional(),
  approval: perTool(approval).optional(),
  pins: pins.optional(),
  trusted: flag().optional(),
  framing: framing.optional(),
  resources: resources.optional(),
  resourceFilter: patterns.optional(),
  resourceRefreshMs: milliseconds(0).optional(),
  roots: roots.optional(),
  sampling: oneOf(["deny", "ask", "allow"]).optional(),
  rateLimit: perTool(rateLimit).optional(),
  concurrency: perTool(integer(1, 10_000)).optional(),
  maxResultBytes: bytes(1024 * MEBIBYTE).optional(),
  // A longer message could not become one string.
  maxMessageBytes: bytes(256 * MEBIBYTE).optional(),
};

// Where it came from

const origin = {
  name: text(),
  version: text(),
  hash: verified(hashProblem),
  inputs: mapOf(listOf(textOrEmpty())).optional(),
};

const provenance = byType<Provenance>(
  {
    registry: object({
      kind: oneOf(["registry"]),
      registry: text(),
      ...origin,
      way: text().optional(),
    }),
    bundle: object({ kind: oneOf(["bundle"]), source: text(), ...origin }),
  },
  "an object as plugboard add writes it",
  "kind",
);

function hashProblem(hash: string): string | undefined {
  return /^sha256-[0-9a-f]{64}$/.test(hash)
    ? undefined
    : "is not a hash; expected sha256- and 64 hexadecimal digits";
}

const keys = { ...connection, ...treatment, provenance: provenance.optional() } satisfies {
  [Key in keyof ServerConfig]-?: Schema<ServerConfig[Key]>;
};

export const SERVER_KEYS: readonly string[] = Object.keys(keys);

export const serverSchema: Schema<ServerConfig> = object(keys, {
  cmd: 'use "command"',
  disabled: 'use "enabled"',
});

/** A server in the client that opens the session. */
export const acpServerSchema: Schema<AcpServerConfig> = object({
  transport: oneOf(["acp"]),
  serverId: text(),
  ...treatment,
});

export function isAcpServer(server: unknown): server is AcpServerConfig {
  return isJsonObject(server) && server["transport"] === "acp";
}

/** A server of a session. */
export const sessionServerSchema: Schema<SessionServerConfig> = either(
  [isAcpServer, acpServerSchema],
  [() => true, serverSchema],
  "an object",
);

/** What may be set for all servers of sessions at once. */
export const sessionDefaultsSchema = object(treatment);
