// Makes a session's tool calls, and describes each to the editor from start to end. The editor gets the raw outcome;
// framing is only for models.

import { randomUUID } from "node:crypto";
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { ContentBlock } from "../../../core/types/content.ts";
import { type JsonObject, objectIn, tryParseJson } from "../../../core/types/json.ts";
import type { SessionBoard } from "../../../core/types/board.ts";
import type { CallOutcome, Tool, ToolUpdate } from "../../../core/types/tool.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import { isTooDeep } from "../../../util/json-depth.ts";
import { oneLine } from "../../../util/text.ts";
import { outcomeContent, textContent } from "../wire/content.ts";
import { toolKind, toolTitle } from "./tool-view.ts";

const LONGEST_PROGRESS = 200;
/** A result that is larger is not sent twice. */
const LARGE_CHARS = 16 * 1024;

export interface ToolCallsOptions {
  board: Pick<SessionBoard, "call" | "tools" | "cwd">;
  /** Whether the session's mode lets the tool be called. The guard decides after that. */
  permits: (tool: Tool) => boolean;
  emit: (update: SessionUpdate) => void;
}

export class ToolCalls {
  readonly #options: ToolCallsOptions;

  constructor(options: ToolCallsOptions) {
    this.#options = options;
  }

  /** A call that the user typed, shown from start to end. */
  async run(tool: Tool, args: JsonObject, signal: AbortSignal): Promise<CallOutcome> {
    const { board, permits, emit } = this.#options;
    const callId = randomUUID();
    emit(callStarted({ id: callId, name: tool.name, input: args, tool }, board.cwd));
    const onUpdate = (update: ToolUpdate): void => callProgressed(callId, update).forEach(emit);
    const outcome = permits(tool)
      ? await board.call(tool.name, args, { callId, signal, onUpdate })
      : refusedByMode(tool);
    emit(callEnded(callId, outcome));
    return outcome;
  }

  /** The board's tools for a model, under the session's mode. The agent's loop shows their calls. */
  tools(): Tool[] {
    const { board, permits } = this.#options;
    return board.tools().map((tool) => ({
      ...tool,
      async execute(callId, params, signal, onUpdate) {
        if (permits(tool)) return tool.execute(callId, params, signal, onUpdate);
        const outcome = refusedByMode(tool);
        return { content: outcome.content, isError: true, details: outcome };
      },
    }));
  }
}

export interface StartedCall {
  id: string;
  name: string;
  input: unknown;
  /** Undefined if the model made the name up. */
  tool?: Tool;
}

/** Paths below `cwd` are shown relative to it. */
export function callStarted({ id, name, input, tool }: StartedCall, cwd: string): SessionUpdate {
  const args = objectIn(input);
  return {
    sessionUpdate: "tool_call",
    toolCallId: id,
    title: tool === undefined ? oneLine(name, LONGEST_PROGRESS) : toolTitle(tool, args, cwd),
    name,
    kind: tool === undefined ? "other" : toolKind(tool),
    // It may have to be approved first.
    status: "pending",
    rawInput: input,
  };
}

/** The call has been approved, or needs no approval. */
export function callRunning(toolCallId: string): SessionUpdate {
  return { sessionUpdate: "tool_call_update", toolCallId, status: "in_progress" };
}

/** An empty list if there is nothing to show. */
export function callProgressed(toolCallId: string, update: ToolUpdate): SessionUpdate[] {
  const text = progressText(update);
  if (text === "") return [];
  const content = [textContent(text)];
  return [{ sessionUpdate: "tool_call_update", toolCallId, status: "in_progress", content }];
}

export function callEnded(toolCallId: string, outcome: CallOutcome): SessionUpdate {
  return {
    sessionUpdate: "tool_call_update",
    toolCallId,
    status: outcome.isError ? "failed" : "completed",
    content: outcomeContent(outcome),
    rawOutput: rawOutput(outcome),
  };
}

function progressText({ progress, content }: ToolUpdate): string {
  const words = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(" ");
  if (progress === undefined) return oneLine(words, LONGEST_PROGRESS);
  const { progress: done, total } = progress;
  const count = total === undefined ? String(done) : `${done}/${total}`;
  return oneLine(words === "" ? count : `${count} ${words}`, LONGEST_PROGRESS);
}

/** For programs. A large result is sent once: if its content says the same, the raw output is left out. */
function rawOutput({ structuredContent, content, failure }: CallOutcome): unknown {
  if (failure !== undefined) return { failure };
  const raw = structuredContent ?? { content };
  // A value that is nested too deeply cannot even be serialized.
  if (isTooDeep(raw) || JSON.stringify(raw).length <= LARGE_CHARS) return raw;
  return structuredContent === undefined || isSaidIn(content, structuredContent) ? undefined : raw;
}

/** Servers repeat their structured content as text. Without a text, the editor gets it as one. */
function isSaidIn(content: readonly ContentBlock[], structured: unknown): boolean {
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  if (texts.every((text) => text === "")) return true;
  const wanted = canonicalJson(structured);
  return texts.some((text) => {
    const said = tryParseJson(text);
    return said !== undefined && !isTooDeep(said) && canonicalJson(said) === wanted;
  });
}

function refusedByMode({ name }: Tool): CallOutcome {
  const message = `${name} is not marked as read-only, and this session is in read-only mode`;
  return {
    content: [{ type: "text", text: message }],
    isError: true,
    failure: { code: "REFUSED_BY_POLICY", message },
  };
}
