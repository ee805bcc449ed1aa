// Loads the native tools of the modules that a configuration names in `tools.native`.

import { stat } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { nativeNameProblem } from "../tools/native.ts";
import type { NativeModule } from "../types/agent-config.ts";
import { PlugboardError } from "../types/errors.ts";
import { isJsonObject } from "../types/json.ts";
import type { NativeTool, NativeToolContext } from "../types/tool.ts";
import { errorMessage } from "../../util/error-message.ts";

const EXPECTED = "expected a tool, a list of tools, or a function that returns one of them";

/**
 * Runs each module and checks the tools it exports by default. Throws CONFIG_INVALID with the file and what is wrong in
 * it. A module runs once per process, a function that makes tools once per board.
 */
export async function loadNativeModules(
  modules: readonly NativeModule[],
  context: Omit<NativeToolContext, "has">,
): Promise<NativeTool[]> {
  const tools = new Map<string, NativeTool>();
  const has = (name: string): boolean => tools.has(name);
  for (const module of modules) {
    const exported = await importDefault(module);
    const found = await toolsIn(exported, "the default export", module, { ...context, has });
    for (const tool of found) {
      if (has(tool.name)) throw invalid(module, `the tool '${tool.name}' is given twice`);
      tools.set(tool.name, tool);
    }
  }
  return [...tools.values()];
}

async function importDefault(module: NativeModule): Promise<unknown> {
  const file = await stat(module.path).catch(() => undefined);
  if (file === undefined) throw invalid(module, `there is no such file: ${module.path}`);
  // Node would read a pipe or a device without end, and nothing could stop it.
  if (!file.isFile()) throw invalid(module, "is not a file");
  let loaded: { default?: unknown };
  try {
    loaded = (await import(pathToFileURL(module.path).href)) as { default?: unknown };
  } catch (error) {
    throw invalid(module, `cannot be loaded: ${errorMessage(error)}`, error);
  }
  if (loaded.default === undefined) {
    throw invalid(module, `has no default export; ${EXPECTED}`);
  }
  return loaded.default;
}

/** `place` says where in the module the value is. */
async function toolsIn(
  value: unknown,
  place: string,
  module: NativeModule,
  context: NativeToolContext,
): Promise<NativeTool[]> {
  if (Array.isArray(value)) {
    const found: NativeTool[] = [];
    for (const [index, each] of value.entries()) {
      found.push(...(await toolsIn(each, `${place}[${index}]`, module, context)));
    }
    return found;
  }
  if (typeof value !== "function") return [requireTool(value, place, module)];
  let made: unknown;
  try {
    made = await (value as (given: NativeToolContext) => unknown)(context);
  } catch (error) {
    throw invalid(module, `${place} failed: ${errorMessage(error)}`, error);
  }
  if (made === undefined) return [];
  if (typeof made === "function")
    throw invalid(module, `${place} returned a function; ${EXPECTED}`);
  return toolsIn(made, `what ${place} returned`, module, context);
}

function requireTool(value: unknown, place: string, module: NativeModule): NativeTool {
  if (!isJsonObject(value)) throw invalid(module, `${place} is not a tool; ${EXPECTED}`);
  const problem = toolProblem(value);
  if (problem !== undefined) throw invalid(module, `${place}.${problem}`);
  return value as unknown as NativeTool;
}

type Check = readonly [field: string, type: string, isRight: (value: unknown) => boolean];

const isText = (value: unknown): boolean => typeof value === "string";
const isOptional =
  (isRight: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || isRight(value);

const CHECKS: readonly Check[] = [
  ["name", "a text", isText],
  ["description", "a text", isText],
  ["parameters", "a JSON Schema object", isJsonObject],
  ["execute", "a function", (value) => typeof value === "function"],
  ["label", "a text", isOptional(isText)],
  ["annotations", "an object", isOptional(isJsonObject)],
  ["outputSchema", "a JSON Schema object", isOptional(isJsonObject)],
  ["ownerOnly", "true or false", isOptional((value) => typeof value === "boolean")],
];

function toolProblem(tool: Record<string, unknown>): string | undefined {
  for (const [field, type, isRight] of CHECKS) {
    if (isRight(tool[field])) continue;
    return `${field} ${tool[field] === undefined ? "is missing" : "is wrong"}; expected ${type}`;
  }
  const problem = nativeNameProblem(tool["name"] as string);
  return problem === undefined ? undefined : `name ${problem}`;
}

function invalid({ written }: NativeModule, problem: string, cause?: unknown): PlugboardError {
  const message = `${written}: ${problem}`;
  return new PlugboardError("CONFIG_INVALID", `tools.native: ${message}`, {
    problems: [{ path: "tools.native", message }],
    ...(cause !== undefined && { cause }),
  });
}
