// Turns a value that a model gave for the provider's schema into the one that the server's schema asks for.
// What does not look as agreed is passed on as it is: the server says best what is wrong with it.

import { isJsonObject, type JsonObject } from "../../model/json.ts";
import { chooseBranch } from "./fits.ts";
import { own, put } from "./own.ts";
import type { Mapping } from "./piece.ts";
import { typeOf } from "./type-of.ts";

/** As deep as the schema goes, and no deeper, whatever the value. */
export function decode(value: unknown, mapping: Mapping): unknown {
  if (value === null) return null;
  switch (mapping.kind) {
    case "same":
      return value;
    case "json":
      return fromText(value, mapping.types);
    case "labels":
      return typeof value === "string" && mapping.values.has(value)
        ? mapping.values.get(value)
        : value;
    case "list":
      return Array.isArray(value) ? value.map((item) => decode(item, mapping.items)) : value;
    case "tuple":
      return decodeTuple(value, mapping);
    case "object":
      return isJsonObject(value) ? decodeObject(value, mapping) : value;
    case "union": {
      const branch = chooseBranch(value, mapping.branches);
      return branch === undefined ? value : decode(value, branch.mapping);
    }
    case "wrapped":
      return decodeWrapped(value, mapping);
  }
}

function fromText(value: unknown, types: readonly string[]): unknown {
  if (typeof value !== "string") return value;
  try {
    const parsed: unknown = JSON.parse(value);
    return types.length === 0 || types.includes(typeOf(parsed)) ? parsed : value;
  } catch {
    return value;
  }
}

/** A model may also give the items under their numbers, or name them: their order is what counts. */
function decodeTuple(value: unknown, mapping: Mapping & { kind: "tuple" }): unknown {
  const items = isJsonObject(value) ? Object.values(value) : value;
  if (!Array.isArray(items)) return value;
  return items.map((item, index) => decode(item, mapping.items[index] ?? mapping.rest));
}

function decodeObject(value: JsonObject, mapping: Mapping & { kind: "object" }): JsonObject {
  const result: JsonObject = {};
  for (const [key, content] of Object.entries(value)) {
    const field = mapping.fields.get(key);
    if (field === undefined) put(result, key, decode(content, mapping.extra));
    else if (content !== null || !field.dropNull) {
      put(result, field.name, decode(content, field.mapping));
    }
  }
  for (const field of mapping.fields.values()) {
    if (field.fixed !== undefined && !Object.hasOwn(result, field.name)) {
      put(result, field.name, field.fixed.value);
    }
  }
  return result;
}

function decodeWrapped(value: unknown, mapping: Mapping & { kind: "wrapped" }): unknown {
  const content = isJsonObject(value) ? own(value, mapping.field) : undefined;
  if (content === undefined) return decode(value, mapping.mapping);
  const decoded = decode(content, mapping.mapping);
  return isJsonObject(decoded) ? decoded : value;
}
