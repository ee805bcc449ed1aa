// The schema of the root block `gateway`, and what its keys need of each other and of the rest of the file.

import { DEFAULT_LIMITS, DEFAULT_PORT, SHORTEST_KEY } from "../../types/gateway-settings.ts";
import { patternProblem } from "../../types/tool-pattern.ts";
import { bindingProblem } from "../../net/binding.ts";
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
  type Schema,
  text,
  verified,
} from "./schema.ts";
import {
  bytes,
  httpsProblem,
  milliseconds,
  resolvable,
  resolvableUrl,
  urlProblem,
  WEB_URL,
} from "./values.ts";

const PATH = ["gateway"];

const MEBIBYTE = 1024 * 1024;
const MINUTE = 60_000;
const MOST_REQUESTS = 100_000_000;
const MOST_CONNECTIONS = 1_000_000;
const MOST_VALUES = 10_000_000;
/** The programs that stop a gateway wait no longer than this for it. */
const LONGEST_STOP_DELAY = 15_000;
const MOST_BYTES_PER_MINUTE = 1024 ** 4;

/** Only algorithms with a public key: whoever can check a signature made with a shared secret can also make one. */
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

const ROLES = ["owner", "viewer"] as const;

const MOST_CALLS = 1_000_000_000;

const quota = {
  callsPerMinute: integer(1, MOST_CALLS).describe("Calls of one caller in a minute.").optional(),
  callsPerDay: integer(1, MOST_CALLS)
    .describe("Calls of one caller from midnight to midnight, UTC.")
    .optional(),
  concurrentCalls: integer(1, MOST_CONNECTIONS)
    .describe("Calls of one caller at a time.")
    .optional(),
};

/** RFC 6749: visible ASCII without quotes and backslashes. */
const SCOPE = /^[!#-[\]-~]+$/;

/** One text, or several. */
const textOrTexts = (each: Schema<string>): Schema<string | string[]> =>
  either(
    [(value) => typeof value === "string", each],
    [(value) => Array.isArray(value), atLeastOne(each)],
    "a string, or a list of strings",
  );

const NO_ISSUER = "is none of gateway.jwt.issuers";

const jwt = object(
  {
    issuers: atLeastOne(
      object({
        issuer: verified(issuerProblem, text(), WEB_URL).describe("Exactly the token's `iss`."),
        jwksUri: verified(urlProblem, text(), WEB_URL)
          .describe("Where its keys are.", { otherwise: "from its metadata" })
          .optional(),
        algorithms: atLeastOne(oneOf(ALGORITHMS)).describe("The signatures that are accepted."),
        audience: textOrTexts(text())
          .describe("What its tokens have in `aud`, one or several: any text.", {
            otherwise: "the URL of the endpoint, or `publicUrl`",
            examples: ["api://plugboard"],
            see: "gateway.md#sign-in-through-your-identity-provider",
          })
          .optional(),
      }),
    ).describe("Whose JWTs are accepted."),
    rights: atLeastOne(
      object({
        issuer: verified(issuerProblem, text(), WEB_URL)
          .describe("Which of `jwt.issuers`.", { otherwise: "the only one" })
          .optional(),
        claim: textOrTexts(text()).describe(
          "The claim that decides. `realm_access.roles` leads into an object; a name with `/` or `:` in it is one name. A list of names means what a text cannot.",
          { examples: ["groups", "https://example.com/roles"] },
        ),
        has: textOrTexts(text()).describe("The values of which it must have one, exactly.", {
          examples: ["developers"],
        }),
        agent: textOrTexts(text())
          .describe("For which agents, one or several.", {
            otherwise: "all",
            examples: ["coder"],
          })
          .optional(),
        allow: atLeastOne(verified((pattern) => patternProblem(pattern, "allow")))
          .describe("Only these tools, as of a token.", {
            otherwise: "all",
            examples: [["@readOnly"]],
            see: "gateway.md#tokens",
          })
          .optional(),
        role: oneOf(ROLES)
          .describe(
            "The owner, on the page too; or a viewer of the page, who calls nothing without `agent` or `allow`.",
            { otherwise: "does not see the page" },
          )
          .optional(),
        quotas: object(quota)
          .describe("In place of `gateway.quotas`; with `agent`, for each of them.")
          .optional(),
      }),
    )
      .describe(
        "Who may do what: the first one that fits decides. Without it, the audience alone does.",
        { see: "gateway.md#rights-by-claims" },
      )
      .optional(),
  },
  {
    scopes:
      'gateway.jwt.rights decides who may do what, such as { claim: "scope", has: "plug:code", agent: "coder" }',
  },
);

const ui = object(
  {
    clientId: text().describe("Who the gateway is at the provider: a public client with PKCE."),
    issuer: verified(issuerProblem, text(), WEB_URL)
      .describe("Which of `jwt.issuers`.", { otherwise: "the only one" })
      .optional(),
    scopes: listOf(verified(scopeProblem, text(), SCOPE))
      .describe("What is asked for, besides `openid`.", { default: [], examples: [["groups"]] })
      .optional(),
  },
  {
    claim: "each entry of gateway.jwt.rights names its claim",
    owners: 'write { claim: "groups", has: […], role: "owner" } into gateway.jwt.rights',
    viewers: 'write { claim: "groups", has: […], role: "viewer" } into gateway.jwt.rights',
  },
);

const limits = object({
  bodyBytes: bytes(256 * MEBIBYTE)
    .describe("The largest request.", { default: DEFAULT_LIMITS.bodyBytes })
    .optional(),
  bodyValues: integer(1000, MOST_VALUES)
    .describe("Values in one request: keys, items of lists.", {
      default: DEFAULT_LIMITS.bodyValues,
    })
    .optional(),
  headerBytes: bytes(MEBIBYTE)
    .describe("The headers of a request together.", { default: DEFAULT_LIMITS.headerBytes })
    .optional(),
  requestsPerMinute: either(
    [(value) => value === false, off()],
    [(value) => typeof value === "number", integer(1, MOST_REQUESTS)],
    `a whole number from 1 to ${MOST_REQUESTS}, or false for no limit`,
  )
    .describe("Requests of one caller in a minute. `false` is no limit.", {
      default: DEFAULT_LIMITS.requestsPerMinute,
    })
    .optional(),
  bytesPerMinute: bytes(MOST_BYTES_PER_MINUTE)
    .describe("Bytes of one caller's requests in a minute.", {
      default: DEFAULT_LIMITS.bytesPerMinute,
      see: "gateway.md#limits",
    })
    .optional(),
  connections: integer(1, MOST_CONNECTIONS)
    .describe("Open connections, and requests that are being answered.", {
      default: DEFAULT_LIMITS.connections,
    })
    .optional(),
  sessions: integer(1, MOST_CONNECTIONS)
    .describe("Clients that are kept in memory.", { default: DEFAULT_LIMITS.sessions })
    .optional(),
  sessionServers: integer(1, MOST_CONNECTIONS)
    .describe("Sessions of an agent that have servers of their own.", {
      default: DEFAULT_LIMITS.sessionServers,
    })
    .optional(),
  people: integer(1, MOST_CONNECTIONS)
    .describe("People who have servers of their own at a time, of one agent.", {
      default: DEFAULT_LIMITS.people,
      see: "sign-in.md#each-person-for-themselves",
    })
    .optional(),
});

const quotas = object({
  ...quota,
  agents: mapOf(object(quota))
    .describe("In place of these, for the calls to an agent.", {
      otherwise: "none",
      examples: [{ default: { callsPerDay: 5000 } }],
    })
    .optional(),
});

/** How the URL of each engine begins. */
const URLS = { postgres: /^postgres(?:ql)?:/, valkey: /^(?:valkey|redis)s?:/ } as const;

const engineTls = either(
  [(value) => value === false, off()],
  [
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    object({
      ca: text()
        .describe("Whom to believe, as a PEM file.", { otherwise: "what Node trusts" })
        .optional(),
      cert: text().describe("Who we are, as a PEM file.").optional(),
      key: text().describe("PEM file.").optional(),
    }),
  ],
  "an object with PEM files, or false for no TLS",
).describe("Is used for every host but this machine. `false` turns it off.");

const password = resolvable().describe("A reference to the password.", {
  examples: ["secret://env/PGPASSWORD"],
});

/** An engine: an object, or only its URL. */
function engineSettings<Settings>(
  name: keyof typeof URLS,
  settings: Schema<Settings>,
): Schema<string | Settings> {
  return either(
    [
      (value) => typeof value === "string",
      verified(engineUrlProblem(name, true), text(), URLS[name]),
    ],
    [(value) => typeof value === "object" && value !== null && !Array.isArray(value), settings],
    'a URL without a password, or an object with "url"',
  );
}

const shared = object({
  postgres: engineSettings(
    "postgres",
    object({
      url: verified(engineUrlProblem("postgres"), text(), URLS.postgres).describe(
        "Where it is, with the user and without the password.",
        { examples: ["postgres://plugboard@db.example.com/plugboard"] },
      ),
      password: password.optional(),
      tls: engineTls.optional(),
    }),
  )
    .describe("Keeps what must not be lost. A string is its `url`.")
    .optional(),
  valkey: engineSettings(
    "valkey",
    object({
      url: verified(engineUrlProblem("valkey"), text(), URLS.valkey).describe(
        "Where it is, without the password. With sentinels, only its user and the number of the database count.",
        { examples: ["valkey://cache.example.com"] },
      ),
      password: password.optional(),
      tls: engineTls.optional(),
      sentinels: listOf(
        matching(/^[^\s/@:]+(?::\d{1,5})?$/, "is not a host with a port, such as sentinel-1:26379"),
      )
        .describe("Those who know which one is the primary.", { default: [] })
        .optional(),
      primary: text().describe("What the sentinels call it.", { default: "mymaster" }).optional(),
    }),
  )
    .describe("Counts limits for all gateways together. Redis works too. A string is its `url`.")
    .optional(),
  keys: atLeastOne(resolvable())
    .describe(
      "What is secret in PostgreSQL is encrypted under the first key, and opened with any: at least 32 characters each.",
      { examples: [["secret://env/PLUGBOARD_KEY"]] },
    )
    .optional(),
  replica: object({
    url: resolvableUrl().describe(
      "How the other gateways reach this one, without a path. A variable, where all machines have one file.",
      { examples: ["http://${POD_IP}:7777"] },
    ),
  })
    .describe("This gateway among the others.")
    .optional(),
  differing: oneOf(["warn", "unready"])
    .describe(
      "What a gateway does if most others run with another configuration: it says so, or it says so and is not ready.",
      { default: "warn", see: "fleet.md#different-configurations" },
    )
    .optional(),
  maxStale: milliseconds()
    .describe("How long tokens are trusted while PostgreSQL is away.", { default: 15 * MINUTE })
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
  quotas: quotas
    .describe("How many calls each caller may make whose token does not say.", {
      see: "gateway.md#quotas",
    })
    .optional(),
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
  stopDelay: integer(0, LONGEST_STOP_DELAY, "milliseconds")
    .describe(
      "How long a gateway that stops still takes requests while `/readyz` says 503: as long as a load balancer needs to notice.",
      { default: 0, see: "fleet.md#stopping" },
    )
    .optional(),
  shared: shared
    .describe("What gateways on several machines share. Without it, all of it is in files.", {
      see: "fleet.md",
    })
    .optional(),
});

/** The part of the block that gateways on several machines share. */
export type SharedBlock = Infer<typeof shared>;

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
    ...sharedIssues(data),
    ...Object.keys(data.quotas?.agents ?? {}).flatMap((agent) =>
      agentIds.includes(agent)
        ? []
        : [
            atKey(
              [...PATH, "quotas", "agents", agent],
              "names an agent that the file does not have",
              closest(agent, agentIds),
            ),
          ],
    ),
    ...rightIssues(data, agentIds),
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

function rightIssues(
  { jwt: tokens, ui: page }: GatewayBlock,
  agentIds: readonly string[],
): Issue[] {
  const issuers = tokens?.issuers.map(({ issuer }) => issuer) ?? [];
  return (tokens?.rights ?? []).flatMap((right, index): Issue[] => {
    const place = [...PATH, "jwt", "rights", index];
    const { issuer, agent, allow, role } = right;
    const unknown = textsOf(agent ?? []).filter((each) => !agentIds.includes(each));
    return [
      ...(issuer === undefined && issuers.length > 1
        ? [
            atKey(
              place,
              "needs issuer, because gateway.jwt has several issuers: each of them may have a group of the same name",
            ),
          ]
        : []),
      ...(issuer !== undefined && !issuers.includes(issuer)
        ? [atValue([...place, "issuer"], NO_ISSUER, closest(issuer, issuers))]
        : []),
      ...(claimPath(right.claim).includes("")
        ? [atValue([...place, "claim"], "has an empty name between its dots")]
        : []),
      ...unknown.map((each) =>
        atValue(
          [...place, "agent"],
          `names the agent ${quote(each)}, which the file does not have`,
          closest(each, agentIds),
        ),
      ),
      ...(role === "owner" && (agent ?? allow) !== undefined
        ? [
            atValue(
              [...place, "role"],
              "is owner, who may use every tool of every agent; remove agent and allow, or the role",
            ),
          ]
        : []),
      ...(role === "viewer" && page === undefined
        ? [atValue([...place, "role"], "is for the page, where nobody signs in without gateway.ui")]
        : []),
    ];
  });
}

function pageIssues({ ui: block, jwt: tokens }: GatewayBlock): Issue[] {
  if (block === undefined) return [];
  const place = [...PATH, "ui"];
  const issuers = tokens?.issuers.map(({ issuer }) => issuer) ?? [];
  const { issuer, clientId } = block;
  if (issuers.length === 0) {
    return [atKey(place, "needs gateway.jwt: it says which provider to believe")];
  }
  if (issuer === undefined && issuers.length > 1) {
    return [atKey(place, "needs issuer: gateway.jwt has several")];
  }
  if (issuer !== undefined && !issuers.includes(issuer)) {
    return [atValue([...place, "issuer"], NO_ISSUER, closest(issuer, issuers))];
  }
  const provider = tokens?.issuers.find((each) => each.issuer === (issuer ?? issuers[0]));
  // Whoever gets hold of an ID token of the page would otherwise have a token of the gateway.
  if (textsOf(provider?.audience ?? []).includes(clientId)) {
    return [
      atValue(
        [...place, "clientId"],
        "is an audience of gateway.jwt too; register the page as another application than the gateway",
      ),
    ];
  }
  return [];
}

/** `realm_access.roles` is a way into an object. What a URL or a URN names has dots of its own. */
export function claimPath(claim: string | readonly string[]): readonly string[] {
  if (typeof claim !== "string") return claim;
  return /[/:]/.test(claim) ? [claim] : claim.split(".");
}

export function textsOf(given: string | readonly string[]): readonly string[] {
  return typeof given === "string" ? [given] : given;
}

function sharedIssues({ shared: block }: GatewayBlock): Issue[] {
  if (block === undefined) return [];
  const place = [...PATH, "shared"];
  const { postgres, valkey, keys = [] } = block;
  return [
    ...(postgres === undefined
      ? [
          atKey(
            place,
            valkey === undefined
              ? "needs postgres: tokens, grants, pins and the audit are kept there"
              : "has valkey without postgres: Valkey may forget, and tokens, grants, pins and the audit must not be lost",
          ),
        ]
      : []),
    ...keys.flatMap((key, index) =>
      key.length >= SHORTEST_KEY || /secret:\/\/|^op:\/\/|\$\{/.test(key)
        ? []
        : [atValue([...place, "keys", index], `is shorter than ${SHORTEST_KEY} characters`)],
    ),
  ];
}

/** `isAlone`: there is no object around the URL, in which a password would be. */
function engineUrlProblem(
  engine: keyof typeof URLS,
  isAlone = false,
): (url: string) => string | undefined {
  const example = engine === "postgres" ? "host/database" : "host/0";
  const whole = `{ "url": "${engine}://user@${example}", "password": "secret://env/PASSWORD" }`;
  return (url) => {
    if (!URL.canParse(url) || !URLS[engine].test(url)) {
      if (/^(?:secret|op):\/\/|\$\{/.test(url)) {
        return isAlone
          ? `is a reference, and only a password can be one; write ${whole}`
          : `is a reference, and only "password" can be one; write the URL itself without its password, such as ${engine}://user@${example}, and "password": "secret://env/PASSWORD" beside it`;
      }
      return `is not the URL of an engine; expected one such as ${engine}://${example}`;
    }
    if (new URL(url).password === "") return undefined;
    return `has a password in it; expected ${isAlone ? whole : 'it in "password", as a reference'}`;
  };
}

function issuerProblem(url: string): string | undefined {
  const isLonger = /[?#]/.test(url);
  return (
    urlProblem(url) ?? (isLonger ? "has a query or a fragment; expected a URL without" : undefined)
  );
}

function publicUrlProblem(url: string): string | undefined {
  return issuerProblem(url) ?? httpsProblem(url, "clients send their tokens to it");
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
