// The tables of docs/configuration.md: every key with what it takes, its default and its meaning, as the schema in
// src/core/config/schema has them.

import { importSource } from "../sources.mjs";

const { agentSchema, rootSchema } = await importSource("core/config/schema/file-schema.ts");
const { serverSchema, serversSchema, sessionDefaultsSchema } = await importSource(
  "core/config/schema/server-schema.ts",
);

const PAGE = "docs/configuration.md";

/** The keys of a server, in the order of the page. `oauth` has a table of its own. */
const SERVER_PARTS = {
  connection: keysIn(
    "command args env cwd workingDir url headers auth oauth tls transport type allowInsecure allowPrivate enabled",
  ),
  "start and stop": keysIn(
    "timeout toolTimeout restartOnCrash maxRestarts lazy idleTimeout keepAlive scope replicas worker protocol",
  ),
  "tools of the server": keysIn("toolPrefix include tools approval pins trusted framing"),
  resources: keysIn("resources resourceFilter resourceRefreshMs roots sampling"),
  rates: keysIn("rateLimit concurrency maxResultBytes maxMessageBytes provenance"),
};

const FILE_PARTS = {
  file: ["mcpServers", "servers", "agents", "network", "acp", "registry", "audit", "$schema"],
  models: ["models"],
  secrets: ["secrets"],
  gateway: ["gateway"],
};

/** Their keys are in a table of their own, or nobody writes them by hand. */
const FOLDED = new Set([
  ...[serversSchema, sessionDefaultsSchema].map(({ shape }) => shape),
  ...["oauth", "provenance"].map((key) => serverSchema.shape.keys[key].shape),
  ...["defaults", "list"].map((key) => rootSchema.shape.keys.agents.shape.keys[key].shape),
]);

const KIBIBYTE = 1024;

export function generate() {
  const [, oauth] = serverSchema.shape.keys.oauth.shape.schemas;
  return [
    ...partsOf(serverSchema.shape.keys, SERVER_PARTS),
    { part: "oauth", rows: rowsOf(oauth.shape.keys) },
    { part: "agents", rows: rowsOf(agentSchema.shape.keys) },
    ...partsOf(rootSchema.shape.keys, FILE_PARTS),
  ].map(({ part, rows }) => ({ page: PAGE, part, text: table(rows) }));
}

function partsOf(keys, parts) {
  const listed = new Set(Object.values(parts).flat());
  const missing = Object.keys(keys).filter((key) => !listed.has(key));
  if (missing.length > 0) throw new Error(`${PAGE} has no table for ${missing.join(", ")}`);
  return Object.entries(parts).map(([part, names]) => ({
    part,
    rows: rowsOf(Object.fromEntries(names.map((name) => [name, keys[name]]))),
  }));
}

function rowsOf(keys, prefix = "") {
  return Object.entries(keys).flatMap(([key, schema]) => {
    const path = `${prefix}${key}`;
    // An object only holds its keys together, and so says nothing that they do not say.
    return schema.shape.kind === "object" && !FOLDED.has(schema.shape)
      ? insideOf(schema.shape, path)
      : [rowOf(path, schema), ...insideOf(schema.shape, path)];
  });
}

function insideOf(shape, path) {
  if (FOLDED.has(shape)) return [];
  switch (shape.kind) {
    case "object":
      return rowsOf(shape.keys, `${path}.`);
    case "map":
      return insideOf(ofAllTypes(shape.values.shape), `${path}.<name>`);
    case "list":
      return insideOf(shape.item.shape, `${path}[]`);
    case "either": {
      // A text is short for an object with one key.
      const [first, second] = shape.schemas.map((each) => each.shape);
      return first.kind === "string" ? insideOf(second, path) : [];
    }
    default:
      return [];
  }
}

/** One object with the keys of all those that a key such as `type` tells apart. */
function ofAllTypes(shape) {
  if (shape.kind !== "either" || shape.by === undefined) return shape;
  const keys = Object.assign({}, ...shape.schemas.map((each) => each.shape.keys).toReversed());
  const words = shape.schemas.flatMap((each) => each.shape.keys[shape.by].shape.words);
  keys[shape.by] = { ...keys[shape.by], shape: { kind: "choice", words } };
  return { kind: "object", keys };
}

function rowOf(path, { shape, description, isOptional }) {
  const { text, default: value, otherwise, see } = description ?? {};
  if (text === undefined) throw new Error(`${path} has no description in the schema`);
  const without = otherwise ?? (value === undefined ? undefined : valueText(value, shape));
  const isRequired = !isOptional && without === undefined;
  const more = isRequired ? " (required)" : without === undefined ? "" : ` (${without})`;
  const name = see === undefined ? code(path) : `[${code(path)}](${see})`;
  return [name, `${typeOf(shape)}${more}`, text];
}

function typeOf(shape) {
  switch (shape.kind) {
    case "constant":
      return code(shape.value);
    case "choice":
      return shape.words.map((word) => code(word)).join(", ");
    case "integer":
      return rangeOf(shape);
    case "list":
      return shape.item.shape.kind === "choice" ? `list of ${typeOf(shape.item.shape)}` : "list";
    case "object":
    case "map":
      return "object";
    case "either": {
      const texts = shape.schemas
        .filter((each) => each.shape.kind !== "never")
        .map((each) => (FOLDED.has(shape) ? typeOf(each.shape) : alternativeOf(each.shape, shape)))
        .toSorted((a, b) => a.startsWith("`{") - b.startsWith("`{"));
      return [...new Set(texts)].join(" or ");
    }
    default:
      return shape.kind;
  }
}

/** `{ type: "bearer", token }` */
function alternativeOf(shape, { by }) {
  if (shape.kind !== "object") return typeOf(shape);
  const keys = Object.entries(shape.keys).map(([key, each]) =>
    key === by ? `${key}: "${each.shape.words[0]}"` : key,
  );
  return code(`{ ${keys.join(", ")} }`);
}

function rangeOf({ min, max, unit }) {
  if (unit === "milliseconds") return unit;
  if (unit === "bytes") return `${bytes(min)} to ${bytes(max)}`;
  return `${min} to ${max}`;
}

function valueText(value, { unit }) {
  if (unit === "bytes") return bytes(value);
  return code(typeof value === "string" ? value : JSON.stringify(value));
}

function bytes(count) {
  let [size, unit] = [count / KIBIBYTE, "KiB"];
  for (const larger of ["MiB", "GiB"]) {
    if (size < KIBIBYTE) break;
    [size, unit] = [size / KIBIBYTE, larger];
  }
  return `${size} ${unit}`;
}

function keysIn(text) {
  return text.split(" ");
}

function code(text) {
  return `\`${text}\``;
}

function table(rows) {
  const cells = rows.map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  return [["key", "value (default)", "meaning"], ["-", "-", "-"], ...cells]
    .map((row) => `| ${row.join(" | ")} |`)
    .join("\n");
}
