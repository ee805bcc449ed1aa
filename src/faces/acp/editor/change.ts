// What a file holds now and what it will hold, as an editor shows it.

import { existsSync } from "node:fs";
import { methods, RequestError, type ToolCallContent } from "@agentclientprotocol/sdk";
import { cancelled } from "../../../model/errors.ts";
import { byteSize } from "../../../util/text.ts";
import { textContent } from "../wire/content.ts";
import type { EditorContext } from "./editor-tool.ts";
import { firstLines } from "./first-lines.ts";

/** Of either side. A longer diff is read by nobody, and would be kept with the session. */
const MOST_CHARACTERS = 256 * 1024;
const MOST_LINES = 20_000;
const NOT_FOUND = -32002;

export type PresentText =
  | { kind: "text"; text: string }
  | { kind: "none" }
  | { kind: "long" }
  /** The editor has no way to read it, or did not. */
  | { kind: "unknown" };

/** Read for the person, not for the model. Rejects with CANCELLED alone. */
export async function presentText(
  path: string,
  { sessionId, peer }: Pick<EditorContext, "sessionId" | "peer">,
  signal: AbortSignal | undefined,
): Promise<PresentText> {
  if (peer.capabilities().fs?.readTextFile !== true) return { kind: "unknown" };
  try {
    const params = { sessionId, path, limit: MOST_LINES + 1 };
    const { content } = await peer.request(methods.client.fs.readTextFile, params, signal);
    const isLong = content.length > MOST_CHARACTERS || firstLines(content, MOST_LINES).isCut;
    return isLong ? { kind: "long" } : { kind: "text", text: content };
  } catch (error) {
    if (signal?.aborted) throw cancelled();
    // Few editors have a code of its own for a file that is not there.
    const isNone = (error instanceof RequestError && error.code === NOT_FOUND) || !existsSync(path);
    return { kind: isNone ? "none" : "unknown" };
  }
}

/** A diff, or words where there is none to be had. */
export function changeContent(
  path: string,
  before: PresentText,
  newText: string,
): ToolCallContent[] {
  if (before.kind === "long" || newText.length > MOST_CHARACTERS) {
    const size = byteSize(Buffer.byteLength(newText));
    return [textContent(`${path} is too long to be shown as a diff; its new text has ${size}.`)];
  }
  const oldText = before.kind === "text" ? before.text : null;
  const diff: ToolCallContent = { type: "diff", path, oldText, newText };
  if (before.kind !== "unknown") return [diff];
  return [diff, textContent(`What ${path} holds now, if it is there, could not be read.`)];
}
