// A board's tools as the model's provider takes them: names and schemas it accepts, and the way back to the
// tool's own arguments. A tool that cannot be offered costs that tool, never the request.

import { isProviderName, providerName } from "../bridge/provider-name.ts";
import { normalizeSchema, type SchemaProvider } from "../bridge/schema/normalize.ts";
import { PlugboardError } from "../model/errors.ts";
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
    for (const tool of tools) {
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

/** A tool or why it cannot be offered, made once for each provider: the next turn has the same tools. */
const made = new WeakMap<Tool, Map<SchemaProvider, OfferedTool | string>>();

function offerTool(tool: Tool, schemas: SchemaProvider): OfferedTool | string {
  const known = made.get(tool) ?? new Map<SchemaProvider, OfferedTool | string>();
  made.set(tool, known);
  const offered = known.get(schemas) ?? toOffered(tool, schemas);
  known.set(schemas, offered);
  return offered;
}

function toOffered(tool: Tool, schemas: SchemaProvider): OfferedTool | string {
  try {
    const normalized = normalizeSchema(tool.parameters, schemas);
    return {
      name: providerName(tool.name),
      description: tool.description,
      schema: normalized.schema,
      tool,
      toOriginal: (args) => normalized.toOriginal(args),
    };
  } catch (error) {
    if (!(error instanceof PlugboardError)) throw error;
    return error.message;
  }
}

/** What may stand in a conversation for the name of a tool, which a model may have made up. */
export function safeName(name: string): string {
  return isProviderName(name) && !(name in Object.prototype) ? name : "unknown_tool";
}
