// The schema of the root block `gateway`, and what its keys need of each other and of the rest of the file.

import { DEFAULT_PORT } from "../../types/gateway-settings.ts";
import { bindingProblem } from "../../net/binding.ts";
import { plainHost } from "../../net/host-list.ts";
import { isLocal } from "../../net/policy.ts";
import { closest } from "../../../util/closest.ts";
import { atKey, atValue, type Issue, quote } from "../issue.ts";
import {
  atLeastOne,
  check,
  either,
  flag,
  type Infer,
  integer,
  listOf,
  mapOf,
  matching,
  object,
  off,
  oneOf,
  text,
  verified,
} from "./schema.ts";
import { bytes, milliseconds, urlProblem, WEB_URL } from "./values.ts";

const PATH = ["gateway"];

const MEBIBYTE = 1024 * 1024;
const MINUTE = 60_000;
const MOST_REQUESTS = 100_000_000;
const MOST_CONNECTIONS = 1_000_000;
const MOST_VALUES = 10_000_000;
const MOST_BYTES_PER_MINUTE = 1024 ** 4;

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

/** RFC 6749: visible ASCII without quotes and backslashes. */
const SCOPE = /^[!#-[\]-~]+$/;

const jwt = object({
  issuers: atLeastOne(
    object({
      issuer: verified(issuerProblem, text(), WEB_URL).describe("Exactly the token's `iss`."),
      jwksUri: verified(urlProblem, text(), WEB_URL)
        .describe("Where its keys are.", { otherwise: "from its metadata" })
        .optional(),
      algorithms: atLeastOne(oneOf(ALGORITHMS)).describe("The signatures that are accepted."),
    }),
  ).describe("Whose JWTs are accepted."),
  scopes: mapOf(text(), scopeProblem, SCOPE)
    .describe("Which scope is for which agent. Without it, the audience alone decides.", {
      examples: [{ "plugboard:code": "coder" }],
    })
    .optional(),
});

const ui = object({
  clientId: text().describe("Who the gateway is at the provider: a public client with PKCE."),
  issuer: verified(issuerProblem, text(), WEB_URL)
    .describe("Which of `jwt.issuers`.", { otherwise: "the only one" })
    .optional(),
  scopes: listOf(verified(scopeProblem, text(), SCOPE))
    .describe("What is asked for, besides `openid`.", { default: [], examples: [["groups"]] })
    .optional(),
  claim: text()
    .describe("The claim of the ID token that decides about the role.", { default: "groups" })
    .optional(),
  owners: listOf(text())
    .describe("Values of the claim that make somebody an owner.", {
      default: [],
      examples: [["platform-admins"]],
    })
    .optional(),
  viewers: listOf(text())
    .describe("Values of the claim that make somebody a viewer.", { default: [] })
    .optional(),
});

const limits = object({
  bodyBytes: bytes(256 * MEBIBYTE)
    .describe("The largest request.", { default: 16 * MEBIBYTE })
    .optional(),
  bodyValues: integer(1000, MOST_VALUES)
    .describe("Values in one request: keys, items of lists.", { default: 50_000 })
    .optional(),
  headerBytes: bytes(MEBIBYTE)
    .describe("The headers of a request together.", { default: 32 * 1024 })
    .optional(),
  requestsPerMinute: either(
    [(value) => value === false, off()],
    [(value) => typeof value === "number", integer(1, MOST_REQUESTS)],
    `a whole number from 1 to ${MOST_REQUESTS}, or false for no limit`,
  )
    .describe("Requests of one caller in a minute. `false` is no limit.", { default: 60_000 })
    .optional(),
  bytesPerMinute: bytes(MOST_BYTES_PER_MINUTE)
    .describe("Bytes of one caller's requests in a minute.", {
      default: 256 * MEBIBYTE,
      see: "gateway.md#limits",
    })
    .optional(),
  connections: integer(1, MOST_CONNECTIONS)
    .describe("Open connections, and requests that are being answered.", { default: 2000 })
    .optional(),
  sessions: integer(1, MOST_CONNECTIONS)
    .describe("Clients that are kept in memory.", { default: 10_000 })
    .optional(),
  sessionServers: integer(1, MOST_CONNECTIONS)
    .describe("Sessions of an agent that have servers of their own.", { default: 200 })
    .optional(),
});

export const gatewaySchema = object({
  host: text()
    .describe("The address to listen at. One that others reach needs `tls` or `behindProxy`.", {
      default: "127.0.0.1",
    })
    .optional(),
  port: integer(0, 65_535)
    .describe("The port to listen at. 0 takes any free port.", { default: DEFAULT_PORT })
    .optional(),
  tls: object({
    cert: text().describe("PEM file."),
    key: text().describe("PEM file."),
  })
    .describe("PEM files for `https:`.")
    .optional(),
  behindProxy: flag()
    .describe("Something in front of the gateway ends TLS and sets `X-Forwarded-For`.", {
      default: false,
    })
    .optional(),
  publicUrl: verified(publicUrlProblem, text(), WEB_URL)
    .describe("What clients call the gateway. `jwt` needs it.", {
      examples: ["https://gateway.example.com"],
    })
    .optional(),
  allowedHosts: listOf(
    matching(
      /^(?:(?:\*\.)?[\w-]+(?:\.[\w-]+)*|\[[\dA-Fa-f:.]+\])(?::\d{1,5})?$/,
      'is not a host; expected one such as gateway.example.com, *.example.com or localhost:8080, without "https://"',
    ),
  )
    .describe("Further `Host` headers, besides this machine, `host` and `publicUrl`.", {
      default: [],
      examples: [["gateway.example.com", "*.example.com"]],
    })
    .optional(),
  allowedOrigins: listOf(verified(originProblem, text(), WEB_URL))
    .describe("Web pages that may use the gateway, besides that of `publicUrl`.", {
      default: [],
      examples: [["https://app.example.com"]],
    })
    .optional(),
  jwt: jwt.describe("Accepts tokens of your identity provider.").optional(),
  ui: ui
    .describe("Lets people sign in to the page through a provider of `jwt`.", {
      see: "page.md#sign-in-through-your-provider",
    })
    .optional(),
  limits: limits.describe("What one gateway takes.").optional(),
  sessionTimeout: milliseconds()
    .describe("How long an idle client is kept in memory, with its own servers.", {
      default: 30 * MINUTE,
    })
    .optional(),
  idleTimeout: milliseconds()
    .describe("How long a gateway in the background runs unused.", {
      default: 5 * MINUTE,
      see: "gateway.md#keep-alive",
    })
    .optional(),
  approvalWait: milliseconds(0)
    .describe("How long a call waits for `plugboard approvals`; 0 refuses at once.", {
      default: 5 * MINUTE,
      see: "gateway.md#approval",
    })
    .optional(),
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
    ...pageIssues(data),
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

function pageIssues({ ui: block, jwt: tokens }: GatewayBlock): Issue[] {
  if (block === undefined) return [];
  const place = [...PATH, "ui"];
  const issuers = tokens?.issuers.map(({ issuer }) => issuer) ?? [];
  const { issuer, owners = [], viewers = [] } = block;
  if (issuers.length === 0) {
    return [atKey(place, "needs gateway.jwt: it says which provider to believe")];
  }
  if (owners.length + viewers.length === 0) {
    return [atKey(place, "needs owners or viewers: nobody else may see the page")];
  }
  if (issuer === undefined && issuers.length > 1) {
    return [atKey(place, "needs issuer: gateway.jwt has several")];
  }
  if (issuer !== undefined && !issuers.includes(issuer)) {
    return [
      atValue([...place, "issuer"], "is none of gateway.jwt.issuers", closest(issuer, issuers)),
    ];
  }
  return [];
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

function originProblem(origin: string): string | undefined {
  const isOrigin =
    /^https?:\/\//.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin;
  return isOrigin
    ? undefined
    : "is not the origin of a web page; expected one such as https://app.example.com, without a path";
}

function scopeProblem(scope: string): string | undefined {
  return SCOPE.test(scope)
    ? undefined
    : "is not a scope; expected visible characters without spaces, quotes and backslashes";
}
