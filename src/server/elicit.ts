// A server's question to a person: read from the wire, put to the host's callback, and its answer made
// fit for the wire. Whatever goes wrong on the way declines.

import type { OnElicitation } from "../model/elicitation.ts";
import { isJsonObject, type JsonObject } from "../model/json.ts";
import type { Logger } from "../model/logger.ts";
import { oneLine, plainText, truncate } from "../util/text.ts";

const MAX_MESSAGE = 16 * 1024;

/** Answers `elicitation/create`; never rejects. */
export type Elicit = (params: unknown) => Promise<JsonObject>;

export function elicitThrough(server: string, ask: OnElicitation, logger: Logger): Elicit {
  return async (params) => {
    const given = isJsonObject(params) ? params : {};
    const { requestedSchema, message, mode = "form" } = given;
    if (mode !== "form" || !isJsonObject(requestedSchema)) {
      logger.warn("the server asked a question of a kind that was not offered; declined");
      return { action: "decline" };
    }
    try {
      const answer = await ask({
        server,
        mode: "form",
        message: truncate(plainText(typeof message === "string" ? message : ""), MAX_MESSAGE),
        schema: requestedSchema,
      });
      if (answer.action !== "accept") return { action: answer.action };
      const content = isJsonObject(answer.content) ? answer.content : {};
      return { action: "accept", content: withDefaults(content, requestedSchema) };
    } catch (error) {
      const reason = oneLine(error instanceof Error ? error.message : String(error), 300);
      logger.warn("a question of the server's was declined: its callback failed", { reason });
      return { action: "decline" };
    }
  };
}

function withDefaults(content: JsonObject, schema: JsonObject): JsonObject {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const filled: JsonObject = { ...content };
  for (const [name, property] of Object.entries(properties)) {
    if (Object.hasOwn(filled, name) && filled[name] !== undefined) continue;
    if (!isJsonObject(property) || property.default === undefined) continue;
    // A name may be `__proto__`, which an assignment would not set.
    Object.defineProperty(filled, name, { value: property.default, enumerable: true });
  }
  return filled;
}
