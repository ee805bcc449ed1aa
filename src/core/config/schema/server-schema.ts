// The schema of one server, key by key, and those of its parts that agents and files have too. Which keys must
// come together is checked after merging.

import { isJsonObject } from "../../types/json.ts";
import type {
  AcpServerConfig,
  ServerAuth,
  ServerConfig,
  SessionServerConfig,
} from "../../types/server-config.ts";
import { DEFAULT_TOOL_TIMEOUT_MS } from "../../types/server-definition.ts";
import type { Provenance } from "../../types/server-offer.ts";
import { patternProblem } from "../../types/tool-pattern.ts";
import {
  anyObject,
  byType,
  either,
  flag,
  integer,
  listOf,
  mapOf,
  matching,
  never,
  object,
  off,
  oneOf,
  type Schema,
  text,
  textOrEmpty,
  verified,
} from "./schema.ts";
import {
  bytes,
  HEADER_NAME,
  headerNameProblem,
  headerValueProblem,
  milliseconds,
  resolvable,
  resolvableDirectory,
  resolvableOrEmpty,
  resolvablePart,
  resolvablePath,
  resolvableUrl,
  SERVER_NAME,
  serverNameProblem,
  WEB_URL,
} from "./values.ts";

const MEBIBYTE = 1024 * 1024;

const OF_A_SESSION =
  "is for servers in an editor, which only the editor itself can bring into a session; expected one of stdio, http, sse, streamable-http";

const VARIABLE_NAME = /^[^=\p{Cc}]+$/u;

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
  [(value) => value === "acp", never(OF_A_SESSION)],
  [() => true, oneOf(["stdio", "http", "sse", "streamable-http"])],
  "a transport",
);

const auth = byType<ServerAuth>(
  {
    bearer: object({
      type: oneOf(["bearer"]).describe("Which of the two it is."),
      token: resolvablePart().describe("Sent as `Authorization: Bearer …`.", {
        examples: ["${DOCS_TOKEN}", "secret://keyring/docs"],
      }),
    }),
    "api-key": object({
      type: oneOf(["api-key"]).describe("Which of the two it is."),
      key: resolvable().describe("Sent in a header of its own."),
      header: verified(headerNameProblem, text(), HEADER_NAME)
        .describe("The header of the key.", { default: "X-API-Key" })
        .optional(),
    }),
  },
  'an object { type: "bearer", token } or { type: "api-key", key }',
);

const oauth = either(
  [(value) => typeof value === "boolean", flag()],
  [
    isJsonObject,
    object({
      grant: oneOf(["authorization_code", "client_credentials", "token_exchange"])
        .describe(
          "Who signs in: a person in a browser, or this machine on its own. Or nobody: each caller's JWT is exchanged.",
          { default: "authorization_code", see: "sign-in.md#with-the-token-that-they-have" },
        )
        .optional(),
      per: oneOf(["user"])
        .describe(
          "Each caller of a gateway signs in for themselves, and has a connection and tools of their own.",
          { see: "sign-in.md#each-person-for-themselves" },
        )
        .optional(),
      clientId: resolvable()
        .describe(
          "A client that you registered, with the redirect URI `http://127.0.0.1/callback`.",
        )
        .optional(),
      clientSecret: resolvable()
        .describe("The client's secret, if it has one.", {
          examples: ["secret://keyring/docs/client"],
        })
        .optional(),
      privateKey: resolvable()
        .describe("Signs a JWT in place of a secret: PEM text, or the path of a PEM file.")
        .optional(),
      algorithm: oneOf(ALGORITHMS)
        .describe("The algorithm of the private key.", { default: "ES256" })
        .optional(),
      clientMetadataUrl: verified(metadataUrlProblem, text(), WEB_URL)
        .describe("The `https:` URL of a document that describes this client.")
        .optional(),
      scope: text()
        .describe("Scopes to request besides those that the server asks for.")
        .optional(),
      issuer: resolvableUrl()
        .describe("The only authorization server that may be used.")
        .optional(),
      tokenEndpoint: resolvableUrl()
        .describe("Where JWTs are exchanged.", { otherwise: "from the metadata of `issuer`" })
        .optional(),
      audience: resolvable()
        .describe(
          "What the authorization server calls the MCP server that an exchanged token is for.",
        )
        .optional(),
      resource: resolvableUrl()
        .describe("The same as a URL.", { otherwise: "that of the server, without an `audience`" })
        .optional(),
      subjectTokenType: oneOf(["access_token", "jwt", "id_token"])
        .describe("What callers' JWTs are, for the authorization server.", {
          default: "access_token",
        })
        .optional(),
      requestedTokenType: oneOf(["access_token", "jwt"])
        .describe("What they are exchanged for.", { default: "access_token" })
        .optional(),
      clientAuth: oneOf(["basic", "post"])
        .describe("Where the client's secret is when it exchanges: in a header, or in the form.", {
          otherwise: "what the metadata of `issuer` says, else `basic`",
        })
        .optional(),
      redirectUri: verified(redirectUriProblem, text(), WEB_URL)
        .describe(
          "Where the browser is sent. Plugboard listens there if it is this machine; else your `onAuthorization` returns the URL.",
          { otherwise: "a free port" },
        )
        .optional(),
    }),
  ],
  "true, false or an object",
);

const tls = object({
  ca: resolvablePath().describe("PEM file of the server's authority.").optional(),
  cert: resolvablePath().describe("PEM file of your certificate.").optional(),
  key: resolvablePath().describe("PEM file of its key.").optional(),
});

const worker = object({
  url: resolvableUrl().describe(
    "Where `plugboard up --only` runs the program for all gateways, with `/mcp`.",
    {
      examples: ["http://worker-memory:7584/mcp"],
    },
  ),
  token: resolvablePart().describe("Whoever shows it may use the server: at least 32 characters.", {
    examples: ["secret://env/PLUGBOARD_WORKER_TOKEN"],
  }),
  allowInsecure: flag()
    .describe("Allows plain `http:` to another machine.", { default: false })
    .optional(),
  tls: tls.describe("PEM files for a private authority or a client certificate.").optional(),
});

const connection = {
  transport: transport
    .describe("How to talk to the server. `streamable-http` means `http`.", {
      otherwise: "from `command` or `url`",
    })
    .optional(),
  type: transport.describe("Another name for `transport`.").optional(),
  command: resolvablePath()
    .describe("The program, without arguments. No shell is involved.", {
      examples: ["npx", "uvx", "~/bin/my-server"],
    })
    .optional(),
  args: listOf(resolvableOrEmpty())
    .describe("Its arguments.", {
      default: [],
      examples: [["-y", "@modelcontextprotocol/server-filesystem", "."]],
    })
    .optional(),
  env: mapOf(resolvableOrEmpty(), variableNameProblem, VARIABLE_NAME)
    .describe("Its environment variables. Besides them it gets only basic ones such as `PATH`.", {
      examples: [{ API_KEY: "secret://keyring/docs" }],
    })
    .optional(),
  cwd: resolvablePath()
    .describe("Its working directory.", { otherwise: "`workspace`, else the current directory" })
    .optional(),
  workingDir: resolvablePath().describe("Another name for `cwd`.").optional(),
  url: resolvableUrl()
    .describe("A remote server. Streamable HTTP is tried first, then SSE.", {
      examples: ["https://example.com/mcp"],
    })
    .optional(),
  headers: mapOf(resolvableOrEmpty(headerValueProblem), headerNameProblem, HEADER_NAME)
    .describe("Headers of every request.", {
      examples: [{ Authorization: "Bearer ${DOCS_TOKEN}" }],
    })
    .optional(),
  auth: auth
    .describe("A token or key that you have. `header` is `X-API-Key` by default.")
    .optional(),
  oauth: oauth
    .describe("How to sign in. `false` never does.", {
      default: true,
      see: "#oauth",
    })
    .optional(),
  tls: tls
    .describe("PEM files for servers with a private authority or client certificates.")
    .optional(),
  allowInsecure: flag()
    .describe("Allows plain `http:` to other machines.", { default: false, see: "network.md" })
    .optional(),
  allowPrivate: flag()
    .describe("Allows addresses of private networks.", { default: false, see: "network.md" })
    .optional(),
  replicas: oneOf(["each"])
    .describe(
      "For several gateways: each of them has a process of this program, which keeps nothing.",
      {
        see: "fleet.md#servers-that-are-programs",
      },
    )
    .optional(),
  worker: worker
    .describe(
      "For several gateways: only `plugboard up --only` runs this program, and all others reach it there.",
      {
        see: "fleet.md#servers-that-are-programs",
      },
    )
    .optional(),
};

function variableNameProblem(name: string): string | undefined {
  return VARIABLE_NAME.test(name)
    ? undefined
    : 'is not a name for a variable; expected one without "=" and control characters';
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

const rulePatterns = (rule: "allow" | "deny" | "ownerOnly"): Schema<string[]> =>
  listOf(verified((pattern) => patternProblem(pattern, rule)));

/** The keys of a block of rules. */
export const toolRules = {
  allow: rulePatterns("allow")
    .describe("Only these tools may be called.", {
      otherwise: "all",
      see: "#rules-for-tools",
      examples: [["files/read_*"], ["@readOnly"]],
    })
    .optional(),
  deny: rulePatterns("deny")
    .describe("These tools are refused.", {
      default: [],
      examples: [["*/delete_*"], ["@destructive"]],
    })
    .optional(),
  ownerOnly: either(
    [(value) => typeof value === "boolean", flag()],
    [Array.isArray, rulePatterns("ownerOnly")],
    "true, false or a list of tools",
  )
    .describe("Only the owner may call these; `true` is all.", {
      default: false,
      see: "security.md#the-owner",
    })
    .optional(),
};

export const approval = oneOf(["never", "ask", "destructive"]);

export const framing = oneOf(["full", "compact", "off"]);

export const pins = oneOf(["off", "warn", "block"]);

const includeMode = oneOf(["always", "manual", "agent"]);

export const include = either(
  [(value) => typeof value === "string", includeMode],
  [isJsonObject, byTool(includeMode)],
  "always, manual, agent or an object { default, tools }",
);

export const roots = either(
  [(value) => typeof value === "boolean", flag()],
  [Array.isArray, listOf(resolvableDirectory())],
  "true, false or a list of directories",
);

const rateLimit = either(
  [(value) => value === false, off()],
  [() => true, integer(1, 1_000_000, "calls a minute", ", or false")],
  "a number",
);

/** One value for all tools of a server, or `{ default, tools }`. */
function perTool<Value>(value: Schema<Value>) {
  return either(
    [isJsonObject, byTool(value)],
    [() => true, value],
    "a value or an object { default, tools }",
  );
}

function byTool<Value>(value: Schema<Value>) {
  return object(
    {
      default: value.describe("For all tools that `tools` does not name.").optional(),
      tools: mapOf(value, (tool) => patternProblem(tool))
        .describe("For single tools, by name or pattern.", { see: "#rules-for-tools" })
        .optional(),
    },
    (tool) => `for a single tool write { "tools": { ${tool}: … } }`,
  );
}

const resources = either(
  [(value) => typeof value === "boolean", flag()],
  [(value) => typeof value === "string", oneOf(["context", "list"])],
  "true, false, context or list",
);

const treatment = {
  enabled: flag()
    .describe("`false` keeps the entry without the server.", { default: true })
    .optional(),
  timeout: milliseconds()
    .describe("How long a start may take, and then listing its tools.", { default: 30_000 })
    .optional(),
  toolTimeout: milliseconds()
    .describe(
      "How long a call may take without reporting progress. With progress, up to ten minutes.",
      {
        default: DEFAULT_TOOL_TIMEOUT_MS,
      },
    )
    .optional(),
  restartOnCrash: flag()
    .describe(
      "Starts the server again after a crash or a failed start. If not, the next call does.",
      { default: true },
    )
    .optional(),
  maxRestarts: integer(0, 1000)
    .describe(
      "How often in a row it is started again. A minute of health starts the count anew. After that it has failed, and calls say how to restart it. Remote servers are always tried again, except with 0.",
      { default: 5 },
    )
    .optional(),
  lazy: flag()
    .describe("Starts the server on first use, and once a day to list its tools.", {
      default: false,
    })
    .optional(),
  idleTimeout: milliseconds(0)
    .describe("Stops the server after this long without a call; 0 never does.", {
      otherwise: '`0`; an hour with `scope: "session"`',
    })
    .optional(),
  keepAlive: flag()
    .describe("Keeps the server running between commands.", {
      otherwise: "the agent's, else `false`",
      see: "gateway.md#keep-alive",
    })
    .optional(),
  scope: oneOf(["shared", "session"])
    .describe("One server for all sessions, or one for each.", {
      default: "shared",
      see: "#servers-of-sessions",
    })
    .optional(),
  protocol: oneOf(["auto", "legacy", "2026-07-28"])
    .describe("Which revisions of MCP to speak. `legacy` is up to 2025-11-25.", {
      default: "auto",
    })
    .optional(),
  toolPrefix: matching(
    /^[A-Za-z0-9_-]{1,64}$/,
    "is not a prefix for tool names; expected 1 to 64 of A-Z a-z 0-9 _ -",
  )
    .describe("Replaces the server's name in tool names.")
    .optional(),
  include: include
    .describe("Which of its tools a model gets.", { default: "always", see: "#tools-for-people" })
    .optional(),
  tools: object(toolRules)
    .describe("Which of its tools may be called, and by whom.", { see: "#rules-for-tools" })
    .optional(),
  approval: perTool(approval)
    .describe("Which calls need your approval.", {
      otherwise: "the agent's, else `never`",
      see: "#approval",
    })
    .optional(),
  pins: pins
    .describe("What happens if a tool has changed since it was first seen.", {
      otherwise: "the agent's, else `warn`",
      see: "security.md#pins",
    })
    .optional(),
  trusted: flag()
    .describe("Believes what the server says about its tools.", {
      default: false,
    })
    .optional(),
  framing: framing
    .describe("How results are marked as untrusted for a model.", {
      otherwise: "the agent's, else `full`",
      see: "security.md#what-a-model-reads",
    })
    .optional(),
  resources: resources
    .describe(
      "`true` or `context` puts resources into prompts, `list` their names, `false` nothing.",
      { default: true, see: "resources.md#resources-in-a-prompt" },
    )
    .optional(),
  resourceFilter: patterns
    .describe(
      "Only these resources: patterns for URIs (`file:///docs/*`), or parts of them (`docs/`).",
      { otherwise: "all", examples: [["file:///docs/*"]] },
    )
    .optional(),
  resourceRefreshMs: milliseconds(0)
    .describe("How long resources are kept. 0 keeps nothing.", {
      default: 300_000,
    })
    .optional(),
  roots: roots
    .describe(
      "Directories that the server gets as roots, which some servers use instead of `args`. `true` is the working directory.",
      { otherwise: "the agent's, else `false`", see: "server-requests.md#roots" },
    )
    .optional(),
  sampling: oneOf(["deny", "ask", "allow"])
    .describe("Whether the server may use your model.", {
      default: "deny",
      see: "server-requests.md#sampling",
    })
    .optional(),
  rateLimit: perTool(rateLimit)
    .describe("Calls a minute.", { otherwise: "none", see: "#limits" })
    .optional(),
  concurrency: perTool(integer(1, 10_000))
    .describe("Calls at the same time.", { otherwise: "none", see: "#limits" })
    .optional(),
  maxResultBytes: bytes(1024 * MEBIBYTE)
    .describe("How much text of a result a model gets.", { default: 262_144 })
    .optional(),
  // A longer message could not become one string.
  maxMessageBytes: bytes(256 * MEBIBYTE)
    .describe(
      "The largest message that is accepted from the server. It may hold one JSON value per 256 bytes of this limit, and at least 250,000.",
      {
        default: 64 * MEBIBYTE,
      },
    )
    .optional(),
};

// Where it came from

const origin = {
  name: text().describe("Its name there, or in the manifest of the bundle."),
  version: text().describe("Its version."),
  hash: matching(
    /^sha256-[0-9a-f]{64}$/,
    "is not a hash; expected sha256- and 64 hexadecimal digits",
  ).describe("The SHA-256 of its `server.json`, or of the bundle."),
  inputs: mapOf(listOf(textOrEmpty()))
    .describe("What was given for its inputs. Of a secret, the reference.")
    .optional(),
};

const provenance = byType<Provenance>(
  {
    registry: object({
      kind: oneOf(["registry"]).describe("Where it came from."),
      registry: text().describe("The address of the registry."),
      ...origin,
      way: text().describe("Which of several ways to run it was chosen.").optional(),
    }),
    bundle: object({
      kind: oneOf(["bundle"]).describe("Where it came from."),
      source: text().describe("Where the bundle came from."),
      ...origin,
    }),
  },
  "an object as plugboard add writes it",
  "kind",
);

const keys = {
  ...connection,
  ...treatment,
  provenance: provenance
    .describe("Where the entry came from. `plugboard add` writes it, for `plugboard update`.")
    .optional(),
} satisfies {
  [Key in keyof ServerConfig]-?: Schema<ServerConfig[Key]>;
};

export const SERVER_KEYS: readonly string[] = Object.keys(keys);

/** People write these without the `tools` around them. The schema says where they belong. */
export const MISPLACED_KEYS: readonly string[] = Object.keys(toolRules);

export const serverSchema: Schema<ServerConfig> = object(keys, {
  cmd: 'use "command"',
  disabled: 'use "enabled"',
  ...Object.fromEntries(Object.keys(toolRules).map((key) => [key, `it belongs in tools.${key}`])),
});

/** Servers by name. */
export const serversSchema = mapOf(serverSchema, serverNameProblem, SERVER_NAME);

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

/** The servers of a session, which are checked one by one. */
export const sessionServersSchema = anyObject(mapOf(sessionServerSchema, serverNameProblem));

/** What may be set for all servers of sessions at once. */
export const sessionDefaultsSchema = object(treatment);
