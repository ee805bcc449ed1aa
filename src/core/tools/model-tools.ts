// The tools that a model gets: under names and with schemas that its provider accepts, and with the way back
// to each tool's own arguments. A tool that the provider cannot take is left out, since offering it would
// fail the whole request.

import { PlugboardError } from "../types/errors.ts";
import { isForModels } from "../types/include.ts";
import type { JsonObject } from "../types/json.ts";
import type { Tool } from "../types/tool.ts";
import { tokenCount } from "../../util/tokens.ts";
import { definitionTokens, LARGEST_DEFINITION } from "./definition-tokens.ts";
import { providerName } from "./provider-name.ts";
import { type NormalizedSchema, normalizeSchema, type SchemaProvider } from "./schema/normalize.ts";

export interface ModelTool {
  /** The tool's own name, unless the provider would refuse it. */
  name: string;
  description: string;
  schema: JsonObject;
  /** Whose rules the schema follows. */
  provider: SchemaProvider;
  tool: Tool;
  /** Turns the model's arguments into those that the tool's own schema asks for. */
  toOriginal: (args: JsonObject) => JsonObject;
}

export interface ModelToolsOptions {
  /** In order of preference: a schema that the first cannot take is tried with the next. */
  providers: readonly SchemaProvider[];
  /** Keeps names as the board has them: whoever gets the tools is no provider, and a template may ask for a colon. */
  keepsNames?: true;
  /** The provider refuses a request with more tools than this. */
  maxTools?: number;
  /** How many tokens fit into a request to the model: a tool that takes a quarter of them is left out. */
  contextWindow?: number;
  /** Finds a tool that is not on the list, by the name under which a model would get it. */
  find?: (name: string) => Tool | undefined;
  /** Called with the tool of each call. */
  onCall?: (tool: Tool) => void;
  /** Called once for each tool name. */
  onLeftOut?: (tool: Tool, reason: string) => void;
  /** Called once for each tool whose schema had to be changed. */
  onChanged?: (tool: Tool, changes: string) => void;
}

export class ModelTools {
  readonly #tools: () => readonly Tool[];
  readonly #options: ModelToolsOptions;
  /** A reason for a tool that the provider cannot take. */
  readonly #made = new WeakMap<Tool, ModelTool | string>();
  /** By name, including earlier lists: a model may call a tool that it was offered a step ago. */
  readonly #known = new Map<string, ModelTool>();
  readonly #leftOut = new Set<string>();

  constructor(tools: () => readonly Tool[], options: ModelToolsOptions) {
    this.#tools = tools;
    this.#options = options;
  }

  /** The tools to offer now, by name and in their order. */
  list(): Map<string, ModelTool> {
    const { maxTools = Infinity } = this.#options;
    const listed = new Map<string, ModelTool>();
    for (const tool of this.#tools().filter(isForModels)) {
      const made = this.#made.get(tool) ?? this.#make(tool);
      if (typeof made === "string") {
        this.#leaveOut(tool, made);
      } else if (listed.has(made.name)) {
        this.#leaveOut(tool, `another tool is already named '${made.name}'`);
      } else if (listed.size >= maxTools) {
        this.#leaveOut(tool, `the provider takes no more than ${maxTools} tools`);
      } else {
        listed.set(made.name, made);
        this.#known.set(made.name, made);
      }
    }
    return listed;
  }

  /** For a call: a tool of this list, of an earlier one, or one that the model may call although no list had it. */
  get(name: string): ModelTool | undefined {
    this.list();
    const known = this.#known.get(name) ?? this.find(name);
    if (known !== undefined) this.#options.onCall?.(known.tool);
    return known;
  }

  /** A tool that the model may call although it is on no list. */
  find(name: string): ModelTool | undefined {
    const other = this.#options.find?.(name);
    if (other === undefined) return undefined;
    const made = this.#made.get(other) ?? this.#make(other);
    return typeof made === "string" ? undefined : made;
  }

  keys(): Iterable<string> {
    return this.list().keys();
  }

  #make(tool: Tool): ModelTool | string {
    const fitting = toModelTool(tool, this.#options);
    const made = sizeProblem(fitting, this.#options) ?? fitting;
    this.#made.set(tool, made);
    return made;
  }

  #leaveOut(tool: Tool, reason: string): void {
    if (this.#leftOut.has(tool.name)) return;
    this.#leftOut.add(tool.name);
    this.#options.onLeftOut?.(tool, reason);
  }
}

/** Normalises the schemas ahead of time, so that the next `list` finds them done. */
export function prepareModelTools(tools: readonly Tool[], provider: SchemaProvider): void {
  for (const { parameters } of tools.filter(isForModels)) normalize(parameters, provider);
}

function toModelTool(
  tool: Tool,
  { providers, keepsNames, onChanged }: ModelToolsOptions,
): ModelTool | string {
  const reasons: string[] = [];
  for (const provider of providers) {
    const normalized = normalize(tool.parameters, provider);
    if (typeof normalized === "string") {
      reasons.push(`its schema does not fit the rules for "${provider}": ${normalized}`);
      continue;
    }
    const { schema, notes } = normalized;
    const changes = [...reasons, ...notes];
    if (changes.length > 0) onChanged?.(tool, changes.join("; "));
    return {
      name: keepsNames ? tool.name : providerName(tool.name),
      description: tool.description,
      schema,
      provider,
      tool,
      toOriginal: (args) => normalized.toOriginal(args),
    };
  }
  return reasons.join("; ");
}

/** Why a tool takes too much of the model's window. */
function sizeProblem(
  made: ModelTool | string,
  { contextWindow = Infinity }: ModelToolsOptions,
): string | undefined {
  if (typeof made === "string" || contextWindow === Infinity) return undefined;
  const { name, description, schema } = made;
  const tokens = definitionTokens([{ name, description, parameters: schema }]);
  if (tokens <= contextWindow * LARGEST_DEFINITION) return undefined;
  return (
    `its definition takes about ${tokenCount(tokens)} tokens, more than a quarter of the model's ` +
    `window of ${tokenCount(contextWindow)}`
  );
}

/** Keyed by the schema, not by the tool: callers wrap the same tool anew for every step. */
const normalizedSchemas = new WeakMap<JsonObject, Map<SchemaProvider, NormalizedSchema | string>>();

/** The normalised schema, or the reason why there is none. */
function normalize(schema: JsonObject, provider: SchemaProvider): NormalizedSchema | string {
  const known =
    normalizedSchemas.get(schema) ?? new Map<SchemaProvider, NormalizedSchema | string>();
  normalizedSchemas.set(schema, known);
  let normalized = known.get(provider);
  if (normalized !== undefined) return normalized;
  try {
    normalized = normalizeSchema(schema, provider);
  } catch (error) {
    if (!(error instanceof PlugboardError)) throw error;
    normalized = error.message;
  }
  known.set(provider, normalized);
  return normalized;
}
