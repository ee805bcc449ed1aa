// One converted subschema: what the provider sees, and how a value for it becomes the server's.

import type { JsonObject } from "../../model/json.ts";

/** The ways in which a model's value differs from the one that the server wants. */
export type Mapping =
  | { kind: "same" }
  /** JSON text, of one of these types where they are known. */
  | { kind: "json"; types: readonly string[] }
  /** A text that stands for a value. */
  | { kind: "labels"; values: ReadonlyMap<string, unknown> }
  | { kind: "list"; items: Mapping }
  | { kind: "tuple"; items: readonly Mapping[]; rest: Mapping }
  | { kind: "object"; fields: ReadonlyMap<string, Field>; extra: Mapping }
  | { kind: "union"; branches: readonly Branch[] }
  /** The whole value is inside this one property. */
  | { kind: "wrapped"; field: string; mapping: Mapping };

export interface Field {
  /** As the server calls it. */
  name: string;
  mapping: Mapping;
  /** Null stands for "not given". */
  dropNull: boolean;
  /** The only value there is, for a property that must be there. */
  fixed?: { value: unknown };
}

export interface Branch {
  schema: JsonObject;
  mapping: Mapping;
}

export interface Piece extends Branch {
  /** Null is taken too; `schema` does not say so yet. */
  nullable: boolean;
  /** Nothing but null is taken, or nothing at all. */
  only?: "null" | "never";
  /** The only value that is taken, beside null. */
  fixed?: { value: unknown };
}

export const SAME: Mapping = { kind: "same" };
export const NEVER: Piece = { schema: {}, mapping: SAME, nullable: false, only: "never" };
export const ONLY_NULL: Piece = {
  schema: { type: "null" },
  mapping: SAME,
  nullable: true,
  only: "null",
};
