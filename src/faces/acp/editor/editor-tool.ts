// What a tool of the editor's is made of, and what it needs of its session.

import { RequestError } from "@agentclientprotocol/sdk";
import { cancelled, PlugboardError } from "../../../model/errors.ts";
import { isJsonObject, type JsonObject } from "../../../model/json.ts";
import type { NativeTool } from "../../../model/tool.ts";
import type { Clock } from "../../../util/clock.ts";
import { oneLine } from "../../../util/text.ts";
import type { CallDisplay } from "../calls/display.ts";
import type { Peer } from "../wire/peer.ts";
import type { Preview } from "../questions/permission.ts";
import type { Workspace } from "./workspace.ts";

export interface EditorTool {
  tool: NativeTool;
  /** What a person decides on. Rejects where the call cannot be made, so that nobody is asked about it. */
  preview(args: JsonObject, signal: AbortSignal | undefined): Promise<Preview>;
}

export interface EditorContext {
  sessionId: string;
  workspace: Workspace;
  peer: Pick<Peer, "request" | "capabilities">;
  display: Pick<CallDisplay, "show">;
  clock: Clock;
}

const LONGEST_REASON = 300;

/** A request to the editor, whose refusal is a failure of the tool in words that say what was tried. */
export async function ofEditor<Result>(
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

/** An answer's member that has to be a text. Throws TOOL_FAILED where it is none. */
export function textIn(answer: unknown, key: string, what: string): string {
  const value = isJsonObject(answer) ? answer[key] : undefined;
  if (typeof value === "string") return value;
  const message = `the editor could not ${what}: its answer has no ${key}`;
  throw new PlugboardError("TOOL_FAILED", message);
}

/** What an editor has to say stands in the data: the message is often that of the code alone. */
function reasonOf(error: unknown): string {
  if (!(error instanceof RequestError)) return String(error);
  const details = isJsonObject(error.data) ? error.data["details"] : undefined;
  return typeof details === "string" ? `${error.message}: ${details}` : error.message;
}
