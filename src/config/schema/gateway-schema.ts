// The schema of the root block `gateway`, and what its keys need of each other and of the rest of the file.

import { bindingProblem } from "../../net/binding.ts";
import { plainHost } from "../../net/host-list.ts";
import { isLocal } from "../../net/policy.ts";
import { closest } from "../../util/closest.ts";
import { atKey, atValue, type Issue, quote } from "../issue.ts";
import {
  check,
  either,
  flag,
  type Infer,
  integer,
  listOf,
  mapOf,
  object,
  oneOf,
  type Schema,
  schema,
  text,
  verified,
} from "./schema.ts";
import { bytes, milliseconds, urlProblem } from "./values.ts";

const PATH = ["gateway"];

const MEBIBYTE = 1024 * 1024;
const MOST_REQUESTS = 100_000_000;
const MOST_CONNECTIONS = 1_000_000;

/** Who checks a signature made with a shared secret could make one, too. So only those with a public key. */
const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;

const jwt = object({
  issuers: atLeastOne(
    object({
      issuer: verified(issuerProblem),
      jwksUri: verified(urlProblem).optional(),
      algorithms: atLeastOne(oneOf(ALGORITHMS)),
    }),
  ),
  scopes: mapOf(text(), scopeProblem).optional(),
});

const limits = object({
  bodyBytes: bytes(256 * MEBIBYTE).optional(),
  headerBytes: bytes(MEBIBYTE).optional(),
  requestsPerMinute: either(
    [(value) => value === false, flag()],
    [(value) => typeof value === "number", integer(1, MOST_REQUESTS)],
    `a whole number from 1 to ${MOST_REQUESTS}, or false for no limit`,
  ).optional(),
  connections: integer(1, MOST_CONNECTIONS).optional(),
  sessions: integer(1, MOST_CONNECTIONS).optional(),
});

export const gatewaySchema = object({
  host: text().optional(),
  port: integer(0, 65_535).optional(),
  tls: object({ cert: text(), key: text() }).optional(),
  behindProxy: flag().optional(),
  publicUrl: verified(publicUrlProblem).optional(),
  allowedHosts: listOf(verified(hostProblem)).optional(),
  allowedOrigins: listOf(verified(originProblem)).optional(),
  jwt: jwt.optional(),
  limits: limits.optional(),
  sessionTimeout: milliseconds().optional(),
  idleTimeout: milliseconds().optional(),
  approvalWait: milliseconds(0).optional(),
});

export type GatewayBlock = Infer<typeof gatewaySchema>;

/** What the schema cannot say. Empty for a block that the schema refuses. */
export function gatewayIssues(value: unknown, agentIds: readonly string[]): Issue[] {
  const { data } = check(gatewaySchema.optional(), value, PATH);
  if (data === undefined) return [];
  const problem =
    data.host === undefined ? undefined : bindingProblem({ ...data, host: data.host });
  return [
    ...(problem === undefined ? [] : [atValue([...PATH, "host"], problem)]),
    ...(data.jwt !== undefined && data.publicUrl === undefined
      ? [
          atKey(
            [...PATH, "jwt"],
            "needs gateway.publicUrl: a token must be made for the URL of this gateway",
          ),
        ]
      : []),
    ...repeatedIssuers(data),
    ...Object.entries(data.jwt?.scopes ?? {}).flatMap(([scope, agent]) =>
      agentIds.includes(agent)
        ? []
        : [
            atValue(
              [...PATH, "jwt", "scopes", scope],
              `names the agent ${quote(agent)}, which the file does not have`,
              closest(agent, agentIds),
            ),
          ],
    ),
  ];
}

function repeatedIssuers({ jwt: block }: GatewayBlock): Issue[] {
  const issuers = block?.issuers.map(({ issuer }) => issuer) ?? [];
  return issuers.flatMap((issuer, index) =>
    issuers.indexOf(issuer) === index
      ? []
      : [atValue([...PATH, "jwt", "issuers", index, "issuer"], "is there twice")],
  );
}

function atLeastOne<Item>(item: Schema<Item>): Schema<Item[]> {
  const list = listOf(item);
  return schema((value, path) =>
    Array.isArray(value) && value.length === 0
      ? [atValue(path, "is an empty list; expected at least one")]
      : list.issues(value, path),
  );
}

function issuerProblem(url: string): string | undefined {
  const isLonger = /[?#]/.test(url);
  return (
    urlProblem(url) ?? (isLonger ? "has a query or a fragment; expected a URL without" : undefined)
  );
}

function publicUrlProblem(url: string): string | undefined {
  const problem = issuerProblem(url);
  if (problem !== undefined) return problem;
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || isLocal(plainHost(hostname))
    ? undefined
    : "is plain http; expected https, since clients send their tokens to it";
}

function hostProblem(host: string): string | undefined {
  return /^(?:(?:\*\.)?[\w-]+(?:\.[\w-]+)*|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host)
    ? undefined
    : 'is not a host; expected one such as gateway.example.com, *.example.com or localhost:8080, without "https://"';
}

function originProblem(origin: string): string | undefined {
  const isOrigin =
    /^https?:\/\//.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin;
  return isOrigin
    ? undefined
    : "is not the origin of a web page; expected one such as https://app.example.com, without a path";
}

/** RFC 6749: visible ASCII without quotes and backslashes. */
function scopeProblem(scope: string): string | undefined {
  return /^[!#-[\]-~]+$/.test(scope)
    ? undefined
    : "is not a scope; expected visible characters without spaces, quotes and backslashes";
}
