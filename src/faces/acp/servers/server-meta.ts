// What a client may say of one of its servers beside how to reach it, under `_meta.plugboard`: how long it
// may take to start, and which of its tools the model is offered. Everything else is the operator's.

import { either, mapOf, object } from "../../../config/compound.ts";
import { milliseconds, oneOf } from "../../../config/fields.ts";
import type { Path } from "../../../config/finding.ts";
import type { Infer } from "../../../config/kit.ts";
import { isJsonObject } from "../../../model/json.ts";
import type { Tool } from "../../../model/tool.ts";
import { checked } from "./checked.ts";

const KEY = "plugboard";

const mode = oneOf(["always", "manual"]);

/** As in the configuration, but for `agent`, which needs a search for tools. */
const include = either(
  [(value) => typeof value === "string", mode],
  [isJsonObject, object({ default: mode.optional(), tools: mapOf(mode).optional() })],
  "always, manual or an object { default, tools }",
);

const schema = object({ timeout: milliseconds().optional(), include: include.optional() });

type ServerMeta = Infer<typeof schema>;
export type Include = NonNullable<ServerMeta["include"]>;

/** Throws −32602 with the path to what is wrong. `path` leads to the server. */
export function readServerMeta(meta: unknown, path: Path): ServerMeta {
  const given = isJsonObject(meta) ? meta[KEY] : undefined;
  return given === undefined || given === null
    ? {}
    : checked(schema, given, [...path, "_meta", KEY]);
}

/** Whether a model is offered the tool. One that is not can still be called by a person. */
export function isOffered(
  { source }: Pick<Tool, "source">,
  includes: ReadonlyMap<string, Include>,
): boolean {
  if (source.kind !== "mcp") return true;
  const given = includes.get(source.server);
  if (typeof given !== "object") return given !== "manual";
  const { tools = {} } = given;
  const own = Object.hasOwn(tools, source.tool) ? tools[source.tool] : undefined;
  return (own ?? given.default) !== "manual";
}
