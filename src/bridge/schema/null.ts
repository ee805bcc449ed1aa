// Says in a schema that null is taken, the way the provider reads it.

import type { JsonObject } from "../../model/json.ts";
import type { Branch, Piece } from "./piece.ts";
import type { Rules } from "./rules.ts";

/** The piece as it stands in the result, with null where it takes that or `nullable` says so. */
export function seal(piece: Piece, rules: Rules, nullable = piece.nullable): Branch {
  if (piece.only === "null") {
    return rules.null === "keyword" ? NULL_LABEL : piece;
  }
  return {
    schema: nullable ? withNull(piece.schema, rules) : piece.schema,
    mapping: piece.mapping,
  };
}

/** Null alone is no type of such a provider. */
const NULL_LABEL: Branch = {
  schema: { type: "string", enum: ["null"] },
  mapping: { kind: "labels", values: new Map([["null", null]]) },
};

function withNull(schema: JsonObject, rules: Rules): JsonObject {
  if (Array.isArray(schema.anyOf)) return unionWithNull(schema, rules);
  // Without a type, null is taken already.
  if (schema.type === undefined && schema.enum === undefined) return schema;
  if (rules.null === "keyword") return { ...schema, nullable: true };
  const { type } = schema;
  if (rules.null === "branch" || type === undefined || type === "object" || type === "array") {
    return { anyOf: [schema, { type: "null" }] };
  }
  return {
    ...schema,
    type: [...(Array.isArray(type) ? (type as unknown[]) : [type]), "null"],
    ...(Array.isArray(schema.enum) && { enum: [...(schema.enum as unknown[]), null] }),
  };
}

function unionWithNull(schema: JsonObject, rules: Rules): JsonObject {
  const branches = schema.anyOf as JsonObject[];
  return rules.null === "keyword"
    ? { ...schema, anyOf: branches.map((each) => ({ ...each, nullable: true })) }
    : { ...schema, anyOf: [...branches, { type: "null" }] };
}
