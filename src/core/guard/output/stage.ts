// The stage that checks structured answers: if a tool has an outputSchema, an answer that breaks it becomes
// an error that names the place. The schema compiler takes long to load, so it is loaded with the first
// answer of such a tool.

import type { Stage, StageFor, Subject } from "../../types/guard.ts";
import type { JsonObject } from "../../types/json.ts";
import type { Logger } from "../../types/logger.ts";
import type { CallOutcome } from "../../types/tool.ts";
import { isPlainName, oneLine } from "../../../util/text.ts";
import type { CompiledSchema, OutputCheck } from "./compile.ts";

/** A schema that cannot be compiled is not enforced, and a warning says so once. */
export function outputStage(logger: Logger): StageFor {
  const compiled = new WeakMap<JsonObject, Promise<CompiledSchema>>();

  const compile = async (schema: JsonObject, subject: Subject): Promise<CompiledSchema> => {
    const { compileSchema } = await import("./compile.ts");
    const result = await compileSchema(schema);
    const message = note(result);
    if (message !== undefined) logger.warn(message, { tool: subject.canonical });
    return result;
  };

  const prepare = (schema: JsonObject, subject: Subject): Promise<CompiledSchema> => {
    const known = compiled.get(schema) ?? compile(schema, subject);
    compiled.set(schema, known);
    return known;
  };

  return (subject) => {
    const { outputSchema } = subject;
    return outputSchema && stageOf(subject, () => prepare(outputSchema, subject));
  };
}

function stageOf(subject: Subject, prepare: () => Promise<CompiledSchema>): Stage {
  let schema: CompiledSchema | undefined;
  const whenPrepared = async (outcome: CallOutcome): Promise<CallOutcome> => {
    schema = await prepare();
    return checked(outcome, subject, schema);
  };
  return {
    name: "output schema",
    after(_, outcome) {
      if (outcome.isError === true || outcome.inputRequired !== undefined) return outcome;
      return schema === undefined ? whenPrepared(outcome) : checked(outcome, subject, schema);
    },
  };
}

function checked(outcome: CallOutcome, subject: Subject, schema: CompiledSchema): CallOutcome {
  if (schema.kind === "unusable") return outcome;
  const { structuredContent } = outcome;
  if (structuredContent === undefined)
    return refuse(
      `${answerOf(subject)} has none of the structured content that its outputSchema describes`,
    );
  const check = schema.check(structuredContent);
  return check.kind === "valid" ? outcome : refuse(sentence(subject, check));
}

function note(schema: CompiledSchema): string | undefined {
  if (schema.kind === "unusable") return `the outputSchema is not enforced: ${schema.reason}`;
  const { ignored } = schema;
  const [first] = ignored;
  if (first === undefined) return undefined;
  const more = ignored.length === 1 ? "" : ` and ${ignored.length - 1} more`;
  return `the outputSchema is enforced without the pattern ${oneLine(first, 200)}${more}: not supported`;
}

function sentence(
  subject: Subject,
  { kind, reason }: Exclude<OutputCheck, { kind: "valid" }>,
): string {
  const answer = answerOf(subject);
  return kind === "broken"
    ? `${answer} breaks its outputSchema: ${reason}`
    : `${answer} cannot be checked against its outputSchema: ${reason}`;
}

function answerOf({ source, publicName }: Subject): string {
  const name = source.kind === "mcp" ? source.tool : publicName;
  return isPlainName(name) ? `the answer of '${name}'` : "the tool's answer";
}

/** Drops the answer: whoever reads it would rely on the schema. */
function refuse(message: string): CallOutcome {
  return {
    content: [{ type: "text", text: message }],
    isError: true,
    failure: { code: "INVALID_RESULT", message, mayHaveRun: true },
  };
}
