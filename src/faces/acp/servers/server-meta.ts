// What a client can set for one of its servers under `_meta.plugboard`: how long it may take to start, and which of its
// tools the model gets. Only the operator can set anything else.

import { object } from "../../../config/compound.ts";
import { milliseconds } from "../../../config/fields.ts";
import type { Path } from "../../../config/finding.ts";
import type { Infer } from "../../../config/kit.ts";
import { include } from "../../../config/policy-schema.ts";
import { isJsonObject } from "../../../model/json.ts";
import { checked } from "./checked.ts";

const KEY = "plugboard";

const schema = object({ timeout: milliseconds().optional(), include: include().optional() });

type ServerMeta = Infer<typeof schema>;

/** Throws −32602 with the path to the mistake. `path` leads to the server. */
export function readServerMeta(meta: unknown, path: Path): ServerMeta {
  const given = isJsonObject(meta) ? meta[KEY] : undefined;
  return given === undefined || given === null
    ? {}
    : checked(schema, given, [...path, "_meta", KEY]);
}
