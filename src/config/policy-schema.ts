// The parts of the schemas that have a structure of their own: sign-in, TLS, rules for tools.

import { isJsonObject } from "../model/json.ts";
import { byType, either, mapOf, object } from "./compound.ts";
import {
  flag,
  integer,
  listOf,
  oneOf,
  resolvable,
  resolvableUrl,
  text,
  verified,
} from "./fields.ts";
import { headerNameProblem } from "./header.ts";
import { type Schema, schema } from "./kit.ts";
import type { ServerAuth } from "./server-config.ts";

export function include() {
  const mode = oneOf(["always", "manual", "agent"]);
  return either(
    [(value) => typeof value === "string", mode],
    [isJsonObject, object({ default: mode.optional(), tools: mapOf(mode).optional() })],
    "always, manual, agent or an object { default, tools }",
  );
}

export function patterns() {
  return listOf(text());
}

/** The keys of a block of rules. */
export function toolRules() {
  const ownerOnly = either(
    [(value) => typeof value === "boolean", flag()],
    [Array.isArray, patterns()],
    "true, false or a list of tools",
  );
  return {
    allow: patterns().optional(),
    deny: patterns().optional(),
    ownerOnly: ownerOnly.optional(),
  };
}

export function approval() {
  return oneOf(["never", "ask", "destructive"]);
}

/** One value for all tools of a server, or `{ default, tools }`. */
export function perTool<Value>(value: Schema<Value>) {
  return either(
    [isJsonObject, object({ default: value.optional(), tools: mapOf(value).optional() })],
    [() => true, value],
    "a value or an object { default, tools }",
  );
}

export function framing() {
  return oneOf(["full", "compact", "off"]);
}

export function pins() {
  return oneOf(["off", "warn", "block"]);
}

export function limits() {
  return object({
    sessionServers: integer(0, 1000).optional(),
    sessionTools: integer(0, 10_000).optional(),
  });
}

export function audit() {
  return object({ file: text().optional(), arguments: flag().optional() });
}

/** The value has been seen to be `false` already. */
const off = schema<false>(() => []);

export function rateLimit() {
  return either(
    [(value) => value === false, off],
    [() => true, integer(1, 1_000_000, " of calls a minute", ", or false")],
    "a number",
  );
}

export function auth() {
  return byType<ServerAuth>(
    {
      bearer: object({ type: oneOf(["bearer"]), token: resolvable() }),
      "api-key": object({
        type: oneOf(["api-key"]),
        key: resolvable(),
        header: verified(headerNameProblem).optional(),
      }),
    },
    'an object { type: "bearer", token } or { type: "api-key", key }',
  );
}

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

export function oauth() {
  const settings = object({
    grant: oneOf(["authorization_code", "client_credentials"]).optional(),
    clientId: resolvable().optional(),
    clientSecret: resolvable().optional(),
    privateKey: resolvable().optional(),
    algorithm: oneOf(ALGORITHMS).optional(),
    clientMetadataUrl: verified(documentUrlProblem).optional(),
    scope: text().optional(),
    issuer: resolvableUrl().optional(),
    redirectUri: verified(redirectUriProblem).optional(),
  });
  return either(
    [(value) => typeof value === "boolean", flag()],
    [isJsonObject, settings],
    "true, false or an object",
  );
}

/** It is sent as the client's id, so it must be one that others can look up. */
function documentUrlProblem(url: string): string | undefined {
  const isFit =
    URL.canParse(url) && new URL(url).protocol === "https:" && new URL(url).pathname !== "/";
  return isFit ? undefined : "is not the address of a document; expected an https URL with a path";
}

function redirectUriProblem(uri: string): string | undefined {
  return URL.canParse(uri) && /^https?:$/.test(new URL(uri).protocol)
    ? undefined
    : "is not a URL; expected one such as http://127.0.0.1:8123/callback";
}

export function tls() {
  return object({
    ca: resolvable().optional(),
    cert: resolvable().optional(),
    key: resolvable().optional(),
  });
}
