// A JSON Schema in the forms by which the AI SDK takes one.

import type { JsonObject } from "../../model/json.ts";

/** Standard Schema with its JSON Schema: the form that needs no library to write down. */
export interface AiSdkSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { value: unknown };
    readonly jsonSchema: {
      readonly input: () => JsonObject;
      readonly output: () => JsonObject;
    };
  };
}

/** By this the SDK knows its own form, and then leaves the schema as it is; of the other it closes every object. */
const OWN_FORM = Symbol.for("vercel.ai.schema");

/** Checks nothing: the server's own schema is the one that counts, and the server checks it. */
export function toAiSdkSchema(schema: JsonObject): AiSdkSchema {
  const copy = (): JsonObject => structuredClone(schema);
  const form = {
    [OWN_FORM]: true,
    jsonSchema: schema,
    validate: undefined,
    "~standard": {
      version: 1 as const,
      vendor: "plugboard",
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: copy, output: copy },
    },
  };
  return form;
}
