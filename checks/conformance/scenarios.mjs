// What the client does, and the few scenarios that want something of their own.

/** Never fetched: the suite's authorization server only looks whether it is used as the client's id. */
const CLIENT_METADATA_URL = "https://conformance-test.local/client-metadata.json";

/** `oauth` is added to the server's; `calls` replaces "every tool, with made-up arguments". */
const OWN_WAYS = {
  "auth/basic-cimd": { oauth: { clientMetadataUrl: CLIENT_METADATA_URL } },
  "auth/client-credentials-basic": { oauth: { grant: "client_credentials" } },
  "auth/client-credentials-jwt": { oauth: { grant: "client_credentials" } },
  "json-schema-2020-12-preservation": { calls: echoSchema },
};

/** Names of the suite's context, and what the configuration calls them. */
const OAUTH_KEYS = {
  client_id: "clientId",
  client_secret: "clientSecret",
  issuer: "issuer",
  private_key_pem: "privateKey",
  signing_algorithm: "algorithm",
};

/** The server's `oauth` key; undefined where the scenario is not about authorization. */
export function oauthOf(scenario, context) {
  if (!scenario.startsWith("auth/")) return undefined;
  const given = Object.entries(OAUTH_KEYS)
    .filter(([key]) => context[key] !== undefined)
    .map(([key, name]) => [name, context[key]]);
  const oauth = { ...Object.fromEntries(given), ...OWN_WAYS[scenario]?.oauth };
  return Object.keys(oauth).length === 0 ? true : oauth;
}

/** The calls to make, as `{ name, arguments }` with the server's own names. */
export function callsOf(scenario, context, tools) {
  if (Array.isArray(context.toolCalls)) return context.toolCalls;
  const offered = tools.map((tool) => ({ name: tool.source.tool, schema: tool.parameters }));
  const calls = OWN_WAYS[scenario]?.calls ?? callAll;
  return calls(offered);
}

/** Accepts, and leaves every field out that the board can fill in by its default. */
export function acceptForm({ mode, schema }) {
  if (mode !== "form") return Promise.resolve({ action: "decline" });
  return Promise.resolve({ action: "accept", content: madeUp(schema) });
}

function callAll(offered) {
  return offered.map(({ name, schema }) => ({ name, arguments: madeUp(schema) }));
}

/** Hands a tool's schema back as the board gave it, for the suite to compare. */
function echoSchema(offered) {
  const { schema } = offered.find(({ name }) => name === "json_schema_2020_12_tool");
  return [{ name: "json_schema_echo", arguments: { schema } }];
}

/** The least object that a flat schema accepts: its required properties without a default. */
function madeUp(schema) {
  const { properties = {}, required = [] } = schema ?? {};
  const needed = required.filter((name) => properties[name]?.default === undefined);
  return Object.fromEntries(needed.map((name) => [name, valueFor(properties[name] ?? {})]));
}

function valueFor(schema) {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  switch (schema.type) {
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    case "boolean":
      return true;
    case "array":
      return [];
    case "object":
      return madeUp(schema);
    case "null":
      return null;
    default:
      return "conformance";
  }
}
