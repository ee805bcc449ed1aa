// The documented rules of every provider, as functions from a schema to what is wrong with it.

import type { SchemaProvider } from "../../../src/core/tools/schema/normalize.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";
import { check as anthropic } from "./anthropic.ts";
import { check as generic } from "./generic.ts";
import { check as google } from "./google.ts";
import { check as openai } from "./openai.ts";
import { check as strict } from "./openai-strict.ts";

export const checkers: Readonly<Record<SchemaProvider, (schema: JsonObject) => string[]>> = {
  openai,
  "openai-strict": strict,
  anthropic,
  google,
  generic,
};

export const providers = Object.keys(checkers) as SchemaProvider[];
