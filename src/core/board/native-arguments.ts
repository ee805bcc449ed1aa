// The stage that checks the arguments of the host's own tools against their schemas. A server checks what it gets; for a tool
// of the host nobody else does. The schema compiler takes long to load, so it is loaded with the first call of such a tool.

import { PlugboardError } from "../types/errors.ts";
import type { GuardedCall, Stage, StageFor, Subject } from "../types/guard.ts";
import type { JsonObject } from "../types/json.ts";
import type { Logger } from "../types/logger.ts";
import { misfitsIn } from "../tools/arguments/misfits.ts";
import { sayTool } from "../../util/text.ts";
import type { CompiledSchema } from "../guard/output/compile.ts";

/** `first` decides before anybody is asked about a call, `again` about what was approved. */
export interface NativeArgumentStages {
  first: StageFor;
  again: StageFor;
}

/** A schema that cannot be compiled is not enforced, and a warning says so once. */
export function nativeArgumentStages(logger: Logger): NativeArgumentStages {
  const compiled = new WeakMap<JsonObject, Promise<CompiledSchema>>();

  const compile = async (schema: JsonObject, { canonical }: Subject): Promise<CompiledSchema> => {
    const { compileSchema } = await import("../guard/output/compile.ts");
    const result = await compileSchema(schema);
    if (result.kind === "unusable") {
      const message = `the arguments are not checked against its parameters: ${result.reason}`;
      logger.warn(message, { tool: canonical });
    }
    return result;
  };

  const stage =
    (isChecked: (call: GuardedCall) => boolean): StageFor =>
    (subject) => {
      const { parameters } = subject;
      if (parameters === undefined) return undefined;
      let schema: CompiledSchema | undefined;
      const check = async (call: GuardedCall): Promise<void> => {
        const compiling = compiled.get(parameters) ?? compile(parameters, subject);
        compiled.set(parameters, compiling);
        schema = await compiling;
        requireFit(call, parameters, schema);
      };
      const before: Stage["before"] = (call) => {
        if (!isChecked(call)) return undefined;
        if (schema === undefined) return check(call);
        requireFit(call, parameters, schema);
        return undefined;
      };
      return { name: "arguments", before };
    };

  return {
    first: stage(() => true),
    again: stage(({ decision }) => decision.verdict === "approved"),
  };
}

/** Throws INVALID_ARGUMENTS. */
function requireFit(
  { args, subject }: GuardedCall,
  parameters: JsonObject,
  schema: CompiledSchema,
): void {
  if (schema.kind === "unusable" || schema.check(args).kind !== "broken") return;
  // A program may give what becomes JSON that fits: a date, or a key whose value is undefined.
  const written = asJson(args);
  const found = schema.check(written);
  if (found.kind !== "broken") return;
  const why = misfitsIn(written, parameters) ?? [found.reason];
  const message = `${sayTool(subject.canonical)} was not called, because its arguments do not fit: ${why.join("; ")}`;
  throw new PlugboardError("INVALID_ARGUMENTS", message, { hasNotRun: true });
}

function asJson(args: JsonObject): unknown {
  try {
    return JSON.parse(JSON.stringify(args));
  } catch {
    return args;
  }
}
