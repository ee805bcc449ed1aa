// plugboard.schema.json: what an editor needs to complete and check a plugboard.json. It is made of the schema that
// Plugboard itself checks with. What JSON Schema cannot say, such as what is wrong inside a reference, is left to Plugboard;
// test/core/config/schema-json.test.ts lists it.

import { importSource } from "../sources.mjs";

const { agentSchema, rootSchema } = await importSource("core/config/schema/file-schema.ts");
const { serverSchema, serversSchema, sessionDefaultsSchema } = await importSource(
  "core/config/schema/server-schema.ts",
);

const URL_TRANSPORTS = ["http", "sse", "streamable-http"];

/** What the keys of a server need of each other, as src/core/config/schema/servers.ts checks it. */
const COMPLETE_SERVER = [
  refused([lacks("command"), lacks("url")], 'A server needs a "command" or a "url".'),
  ...["transport", "type"].flatMap((key) => [
    refused(
      [has(key, { const: "stdio" }), lacks("command")],
      'A server with the transport stdio needs a "command".',
    ),
    refused(
      [has(key, { enum: URL_TRANSPORTS }), lacks("url")],
      'A server with this transport needs a "url".',
    ),
  ]),
  refused(
    [has("command"), has("url"), lacks("transport"), lacks("type")],
    'A server has a "command" or a "url", or a "transport" that says which counts.',
  ),
];

/** What keys of the whole file need of each other. */
const WHOLE_FILE = [
  refused([has("mcpServers"), has("servers")], '"mcpServers" and "servers" mean the same.'),
  ...["mcpServers", "servers"].map((key) =>
    refused(
      [has(key), has("agents", has("defaults", has("mcp", has("servers"))))],
      `"${key}" and "agents.defaults.mcp.servers" mean the same.`,
    ),
  ),
  refused(
    [has("gateway", { allOf: [has("jwt"), lacks("publicUrl")] })],
    '"gateway.jwt" needs "gateway.publicUrl".',
  ),
];

export function generate() {
  return [{ file: "plugboard.schema.json", text: JSON.stringify(jsonSchema(), null, 2) }];
}

function jsonSchema() {
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Configuration of Plugboard",
    description: "The MCP servers of your agents, and what each agent gets.",
    // For VS Code, and editors with its language server.
    allowComments: true,
    allowTrailingCommas: true,
    ...objectOf(rootSchema.shape),
    allOf: WHOLE_FILE,
    definitions: {
      server: { allOf: [reference("serverKeys"), ...COMPLETE_SERVER] },
      // What lies over a server of the defaults needs only the keys that it changes.
      ownServer: reference("serverKeys"),
      serverKeys: objectOf(serverSchema.shape),
      sessionServerKeys: objectOf(sessionDefaultsSchema.shape),
    },
  };
}

/** `isOfAgent`: within one entry of `agents.list`. */
function toJsonSchema({ shape, description }, isOfAgent = false) {
  return {
    ...(description && { description: sentences(description, shape) }),
    ...bodyOf(shape, isOfAgent),
    ...(description?.default !== undefined && { default: description.default }),
    ...(description?.examples && { examples: description.examples }),
  };
}

/** Editors show neither the default nor the unit by themselves, and no Markdown. */
function sentences({ text, default: value, otherwise }, { unit }) {
  const shown = otherwise ?? (value === undefined ? undefined : JSON.stringify(value));
  return [
    text,
    ...(unit === undefined ? [] : [`In ${unit}.`]),
    ...(shown === undefined ? [] : [`Default: ${shown}.`]),
  ]
    .join(" ")
    .replaceAll("`", "");
}

function bodyOf(shape, isOfAgent) {
  if (shape === sessionDefaultsSchema.shape) return reference("sessionServerKeys");
  switch (shape.kind) {
    case "boolean":
      return { type: "boolean" };
    case "constant":
      return { const: shape.value };
    case "string":
      return {
        type: "string",
        ...(!shape.isEmptyAllowed && { minLength: 1 }),
        ...(shape.pattern !== undefined && { pattern: shape.pattern }),
      };
    case "choice":
      return { type: "string", enum: shape.words };
    case "integer":
      return { type: "integer", minimum: shape.min, maximum: shape.max };
    case "list":
      return {
        type: "array",
        items: toJsonSchema(shape.item, isOfAgent || shape.item.shape === agentSchema.shape),
        ...(!shape.isEmptyAllowed && { minItems: 1 }),
      };
    case "map":
      return {
        type: "object",
        ...(shape.keyPattern !== undefined && { propertyNames: { pattern: shape.keyPattern } }),
        additionalProperties:
          shape === serversSchema.shape
            ? { $ref: `#/definitions/${isOfAgent ? "ownServer" : "server"}` }
            : toJsonSchema(shape.values, isOfAgent),
      };
    case "object":
      return objectOf(shape, isOfAgent);
    case "either": {
      const possible = shape.schemas.filter((each) => each.shape.kind !== "never");
      const [only, ...more] = possible.map((each) => toJsonSchema(each, isOfAgent));
      return more.length === 0 ? only : { anyOf: [only, ...more] };
    }
    default:
      throw new Error(`nothing is known about the shape ${shape.kind}`);
  }
}

function objectOf({ keys }, isOfAgent) {
  const entries = Object.entries(keys);
  const required = entries.filter(([, each]) => !each.isOptional).map(([key]) => key);
  return {
    type: "object",
    properties: Object.fromEntries(
      entries.map(([key, each]) => [key, toJsonSchema(each, isOfAgent)]),
    ),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** Beside a bare `$ref`, draft 7 ignores everything else. */
function reference(name) {
  return { allOf: [{ $ref: `#/definitions/${name}` }] };
}

/** `message` is for VS Code, and editors with its language server. */
function refused(schemas, message) {
  return { not: { allOf: schemas }, errorMessage: message };
}

function has(key, schema = {}) {
  return { required: [key], properties: { [key]: schema } };
}

function lacks(key) {
  return { not: { required: [key] } };
}
