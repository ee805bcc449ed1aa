// A board's tools as the model's provider takes them: names and schemas it accepts, and the way back to the
// tool's own arguments. A tool that cannot be offered costs that tool, never the request.

import { isProviderName, providerName } from "../bridge/provider-name.ts";
import { normalizeSchema, type SchemaProvider } from "../bridge/schema/normalize.ts";
import { PlugboardError } from "../model/errors.ts";
import { isShownToModels } from "../model/include.ts";
import type { JsonObject } from "../model/json.ts";
import type { Tool } from "../model/tool.ts";
import type { AgentModel } from "./model.ts";

export interface OfferedTool {
  /** The board's own, except where a provider would refuse it. */
  name: string;
  description: string;
  schema: JsonObject;
  tool: Tool;
  /** The model's arguments as the tool's own schema asks for them. */
  toOriginal: (args: JsonObject) => JsonObject;
}

export class Offer {
  readonly #model: Pick<AgentModel, "schemas" | "maxTools">;
  readonly #onLeftOut: (reason: string) => void;
  readonly #told = new Set<string>();

  /** `onLeftOut` is told once of each tool. */
  constructor(
    model: Pick<AgentModel, "schemas" | "maxTools">,
    onLeftOut: (reason: string) => void,
  ) {
    this.#model = model;
    this.#onLeftOut = onLeftOut;
  }

  /** By the name each is offered under, in the order given. */
  list(tools: readonly Tool[]): Map<string, OfferedTool> {
    const { schemas, maxTools } = this.#model;
    const listed = new Map<string, OfferedTool>();
    for (const tool of tools.filter(isShownToModels)) {
      const offered = offerTool(tool, schemas);
      if (typeof offered === "string") {
        this.#leaveOut(tool, offered);
      } else if (listed.has(offered.name)) {
        this.#leaveOut(tool, "another tool has its name already");
      } else if (listed.size >= maxTools) {
        this.#leaveOut(tool, `the model takes no more than ${maxTools} tools`);
      } else {
        listed.set(offered.name, offered);
      }
    }
    return listed;
  }

  #leaveOut({ name }: Tool, reason: string): void {
    if (this.#told.has(name)) return;
    this.#told.add(name);
    this.#onLeftOut(`the tool '${name}' is not offered to the model: ${reason}`);
  }
}

/** Makes ahead of time what `list` keeps. */
export function prepareOffer(
  tools: readonly Tool[],
  { schemas }: Pick<AgentModel, "schemas">,
): void {
  for (const { parameters } of tools.filter(isShownToModels)) normalize(parameters, schemas);
}

type Normalized = ReturnType<typeof normalizeSchema>;

/** A schema as the provider takes it, or why it does not: made once, since the next step has the same tools. */
const made = new WeakMap<JsonObject, Map<SchemaProvider, Normalized | string>>();

function offerTool(tool: Tool, schemas: SchemaProvider): OfferedTool | string {
  const normalized = normalize(tool.parameters, schemas);
  if (typeof normalized === "string") return normalized;
  return {
    name: providerName(tool.name),
    description: tool.description,
    schema: normalized.schema,
    tool,
    toOriginal: (args) => normalized.toOriginal(args),
  };
}

/** By the schema and not by the tool, which a caller may have wrapped anew. */
function normalize(schema: JsonObject, schemas: SchemaProvider): Normalized | string {
  const known = made.get(schema) ?? new Map<SchemaProvider, Normalized | string>();
  made.set(schema, known);
  const normalized = known.get(schemas) ?? tryNormalize(schema, schemas);
  known.set(schemas, normalized);
  return normalized;
}

function tryNormalize(schema: JsonObject, schemas: SchemaProvider): Normalized | string {
  try {
    return normalizeSchema(schema, schemas);
  } catch (error) {
    if (!(error instanceof PlugboardError)) throw error;
    return error.message;
  }
}

/** What may stand in a conversation for the name of a tool, which a model may have made up. */
export function safeName(name: string): string {
  return isProviderName(name) && !(name in Object.prototype) ? name : "unknown_tool";
}
