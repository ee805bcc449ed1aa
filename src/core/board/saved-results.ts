// `read_saved_result`: a native tool with which a model reads a result that was too long for it, a part at a time.
// It reads only what this board has saved, and frames a server's words like the result itself.

import { newFrameId, toolFrame, withoutMarkers, wrap } from "../guard/present/frame.ts";
import type { SavedPart } from "../guard/present/result-files.ts";
import type { ContentBlock } from "../types/content.ts";
import { PlugboardError } from "../types/errors.ts";
import type { JsonObject } from "../types/json.ts";
import type { NativeToolResult } from "../types/tool.ts";
import { byteSize, oneLine } from "../../util/text.ts";
import type { OwnTool } from "./tools.ts";

const READ_SAVED_RESULT = "read_saved_result";

/** Well below the limit of a result, so that nothing cuts off the end of the frame. */
const MAX_BYTES = 64 * 1024;
const MIN_BYTES = 4;
const MOST_NAMED = 10;

export interface SavedResults {
  /** Whether there is one that can be read. */
  readonly hasAny: boolean;
  /** Their names, newest first. */
  readonly names: readonly string[];
  /** Undefined if there is no such file. */
  read(file: string, offset: number, bytes: number): Promise<SavedPart | undefined>;
}

export function savedResultTool(saved: () => SavedResults): OwnTool {
  const whole = { type: "integer" };
  return {
    name: READ_SAVED_RESULT,
    description:
      "Reads a tool result that was too long to be shown whole and was saved, a part at a time.",
    parameters: {
      type: "object",
      properties: {
        file: { type: "string", description: "The file that the cut result names." },
        offset: { ...whole, minimum: 0, description: "Where to start, in bytes. Default 0." },
        limit: {
          ...whole,
          minimum: MIN_BYTES,
          maximum: MAX_BYTES,
          description: `How many bytes to read. Default ${MAX_BYTES}.`,
        },
      },
      required: ["file"],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true },
    neverAsks: true,
    isLenient: true,
    toolTimeout: false,
    isOffered: () => saved().hasAny,
    execute: (_id, args) => readPart(saved(), args),
  };
}

async function readPart(saved: SavedResults, args: JsonObject): Promise<NativeToolResult> {
  const file = typeof args.file === "string" ? args.file : "";
  const offset = wholeNumber(args.offset, 0, 0, Number.MAX_SAFE_INTEGER);
  const limit = wholeNumber(args.limit, MAX_BYTES, MIN_BYTES, MAX_BYTES);
  const part = await saved.read(file, offset, limit);
  if (part === undefined) {
    const names = saved.names.slice(0, MOST_NAMED);
    throw new PlugboardError(
      "INVALID_ARGUMENTS",
      `no saved result is named '${oneLine(file, 200)}'`,
      {
        hint: names.length === 0 ? "none are left" : `there are ${names.join(", ")}`,
      },
    );
  }
  const { text, end, totalBytes } = part;
  if (text === "") return { content: [{ type: "text", text: "(the text ends before that)" }] };
  const note =
    end < totalBytes
      ? `[${byteSize(totalBytes - end)} of ${byteSize(totalBytes)} follow: continue with offset ${end}]`
      : "[this is the end of the text]";
  return { content: [...framed(part), { type: "text", text: note }] };
}

function framed({ text, tool: { source, framing } }: SavedPart): ContentBlock[] {
  const block: ContentBlock = { type: "text", text };
  if (source.kind === "native" || framing === "off") return [block];
  const id = newFrameId();
  return wrap(withoutMarkers([block], id).content, toolFrame(framing, source, id));
}

function wholeNumber(value: unknown, fallback: number, min: number, max: number): number {
  if (typeof value !== "number" || !Number.isFinite(value)) return fallback;
  return Math.min(max, Math.max(min, Math.floor(value)));
}
