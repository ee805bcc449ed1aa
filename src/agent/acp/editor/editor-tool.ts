// What the editor's tools have in common: their shape, their arguments, and requests to the editor.

import { RequestError } from "@agentclientprotocol/sdk";
import { z } from "zod";
import { cancelled, PlugboardError } from "../../../core/types/errors.ts";
import { isJsonObject, type JsonObject } from "../../../core/types/json.ts";
import type { NativeTool } from "../../../core/types/tool.ts";
import type { Clock } from "../../../util/clock.ts";
import { oneLine } from "../../../util/text.ts";
import type { CallDisplay } from "../calls/display.ts";
import type { CallPreview } from "../calls/tool-view.ts";
import type { AcpClient } from "../wire/client.ts";
import type { Workspace } from "./workspace.ts";

export interface EditorTool {
  tool: NativeTool;
  /** What the user sees before allowing a call. Rejects if the call cannot be made, so the user is not asked. */
  preview(args: JsonObject, signal: AbortSignal | undefined): Promise<CallPreview>;
}

export interface EditorContext {
  sessionId: string;
  workspace: Workspace;
  client: Pick<AcpClient, "request" | "capabilities">;
  display: Pick<CallDisplay, "attach">;
  clock: Clock;
}

const LONGEST_REASON = 300;

/** A tool's `parameters`: the model reads the same schema that checks its arguments. */
export function parametersOf(schema: z.ZodObject): JsonObject {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: "input" });
  return parameters;
}

/** Throws INVALID_ARGUMENTS and names the argument. */
export function readArguments<Schema extends z.ZodObject>(
  schema: Schema,
  args: JsonObject,
): z.output<Schema> {
  const result = schema.safeParse(args);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  throw new PlugboardError("INVALID_ARGUMENTS", problems.join("; "));
}

/** Waits for the editor's answer. If it refuses, the tool fails with a message that says what was tried. */
export async function answerOfEditor<Result>(
  what: string,
  request: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  try {
    return await request;
  } catch (cause) {
    if (signal?.aborted) throw cancelled();
    const why = oneLine(reasonOf(cause), LONGEST_REASON);
    throw new PlugboardError("TOOL_FAILED", `the editor could not ${what}: ${why}`, { cause });
  }
}

/** A member of an answer that has to be a string. Throws TOOL_FAILED otherwise. */
export function stringIn(answer: unknown, key: string, what: string): string {
  const value = isJsonObject(answer) ? answer[key] : undefined;
  if (typeof value === "string") return value;
  const message = `the editor could not ${what}: its answer has no ${key}`;
  throw new PlugboardError("TOOL_FAILED", message);
}

/** Editors put the reason into the data; the message often only repeats the error code. */
function reasonOf(error: unknown): string {
  if (!(error instanceof RequestError)) return String(error);
  const details = isJsonObject(error.data) ? error.data["details"] : undefined;
  return typeof details === "string" ? `${error.message}: ${details}` : error.message;
}
