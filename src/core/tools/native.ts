// Native tools, which the host brings itself, as unified tools: checked once, called like any other.

import { PlugboardError } from "../types/errors.ts";
import { FUNCTION, type Kinds, OBJECT, requireKind, requireKinds, TEXT } from "../types/kinds.ts";
import type {
  ModelDetails,
  NativeTool,
  NativeToolContext,
  NativeToolFactory,
  Tool,
} from "../types/tool.ts";
import type { Execute, Present } from "./tool.ts";

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

const REQUIRED = [
  ["description", TEXT],
  ["parameters", OBJECT],
  ["execute", FUNCTION],
] as const;
const KINDS: Kinds<NativeTool> = {
  label: TEXT,
  annotations: OBJECT,
  outputSchema: OBJECT,
  toolTimeout: [
    "milliseconds or false",
    (value) => value === false || (typeof value === "number" && value > 0),
  ],
};

/** Throws CONFIG_INVALID for a duplicate name and for one that providers refuse, INVALID_ARGUMENTS for what is no tool. */
export function collectNative(
  given: readonly (NativeTool | NativeToolFactory)[],
  context: Omit<NativeToolContext, "has">,
): Map<string, NativeTool> {
  const tools = new Map<string, NativeTool>();
  const has = (name: string): boolean => tools.has(name);
  for (const each of given) {
    const tool = typeof each === "function" ? each({ ...context, has }) : each;
    if (tool === undefined) continue;
    requireKind("each native tool", tool, OBJECT);
    requireKind("the name of each native tool", tool.name, TEXT);
    const problem = nativeNameProblem(tool.name);
    if (problem !== undefined) throw invalid(`native tool name ${problem}`);
    if (tools.has(tool.name)) throw invalid(`native tool '${tool.name}' is given twice`);
    for (const [key, kind] of REQUIRED) {
      requireKind(`${key} of the native tool '${tool.name}'`, tool[key], kind);
    }
    requireKinds(tool, KINDS, (key) => `${key} of the native tool '${tool.name}'`);
    tools.set(tool.name, tool);
  }
  return tools;
}

/** Undefined for a name that every model provider takes. */
export function nativeNameProblem(name: string): string | undefined {
  return NAME.test(name) ? undefined : `'${name}' must match ${NAME.source}`;
}

export function toUnified(tool: NativeTool, call: Execute, present: Present): Tool<ModelDetails> {
  return {
    name: tool.name,
    label: tool.label ?? tool.name,
    description: tool.description,
    parameters: tool.parameters,
    ...(tool.annotations !== undefined && { annotations: tool.annotations }),
    ...(tool.outputSchema !== undefined && { outputSchema: tool.outputSchema }),
    ...(tool.ownerOnly !== undefined && { ownerOnly: tool.ownerOnly }),
    source: { kind: "native" },
    async execute(callId, params, signal, onUpdate) {
      return present(await call(tool.name, params, { callId, signal, onUpdate }));
    },
  };
}

function invalid(message: string): PlugboardError {
  return new PlugboardError("CONFIG_INVALID", message, { problems: [{ path: "native", message }] });
}
