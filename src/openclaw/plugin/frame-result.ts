// Puts the results of OpenClaw's MCP servers into the frame that Plugboard puts around its own, once. OpenClaw says
// whose result it is; nothing in the text can take a frame off or end it.

import { headOf } from "../../core/guard/present/fit.ts";
import {
  type FrameSource,
  newFrameId,
  readsAsFramed,
  toolFrame,
  withoutMarkers,
  wrap,
} from "../../core/guard/present/frame.ts";
import type { ContentBlock } from "../../core/types/content.ts";
import { isJsonObject, objectIn } from "../../core/types/json.ts";
import { asText } from "../../util/text.ts";
import type { ToolResult, ToolResultEvent } from "./openclaw.ts";
import { type PluginSettings, SERVER } from "./settings.ts";

// OpenClaw gives the model nothing of a result that goes beyond these.
const MOST_BLOCKS = 200;
const LONGEST_TEXT = 100_000;
const LONGEST_IMAGE = 5_000_000;

/** `files__read_file`: how OpenClaw names the tools of a server. */
const TOOL_NAME = /^([a-z][\w-]*?)__(.+)$/i;
/** The board as a whole, and the slots of sessions. */
const OWN_SERVER = new RegExp(`^${SERVER}(?:-\\d+)?$`);
/** OpenClaw's own words, where a server has said nothing. */
const NOTHING_SAID = /^MCP tool (?:completed|failed) without returning content\.$/;

type FrameSettings = Pick<PluginSettings, "framing" | "leaveUnframed">;

/** Returns nothing for a result that stays as it is. */
export function resultFramer({
  framing,
  leaveUnframed,
}: FrameSettings): (event: ToolResultEvent) => { result: ToolResult } | undefined {
  /** What this plugin has framed: OpenClaw may hand on the very same result to another of its registrations. */
  const framed = new WeakSet<object>();
  return ({ toolName, result }) => {
    const source = sourceOf(toolName, result.details);
    if (source === undefined || leaveUnframed.has(source.server)) return undefined;
    if (!Array.isArray(result.content) || framed.has(result.content)) return undefined;
    const blocks = result.content.map(toBlock);
    if (isLeftAlone(source, blocks)) return undefined;
    const id = newFrameId();
    const clean = withoutMarkers(blocks, id);
    const content = withinLimits(wrap(clean.content, toolFrame(framing, source, id)));
    framed.add(content);
    return { result: { ...result, content } };
  };
}

/** Undefined for a tool that is not of an MCP server. */
function sourceOf(toolName: string, details: unknown): FrameSource | undefined {
  const named = TOOL_NAME.exec(toolName);
  const { mcpServer, mcpTool, mcpOperation } = objectIn(details);
  if (typeof mcpServer === "string") {
    const tool = [mcpTool, mcpOperation, named?.[2]].find((each) => typeof each === "string");
    return { server: mcpServer, tool: tool ?? toolName };
  }
  // OpenClaw makes its own error of a failed call, with the server's words in its own frame.
  if (isJsonObject(details) && details["status"] === "error") return undefined;
  // OpenClaw leaves out details that are too large. The name says whose result it is then.
  return named === null ? undefined : { server: named[1] ?? "", tool: named[2] ?? "" };
}

function isLeftAlone({ server }: FrameSource, blocks: readonly ContentBlock[]): boolean {
  const [only, ...others] = blocks;
  if (only?.type === "text" && others.length === 0 && NOTHING_SAID.test(only.text)) return true;
  return OWN_SERVER.test(server) && readsAsFramed(blocks);
}

/** What is neither text nor an image becomes text, and so does an image that OpenClaw would take away the result for. */
function toBlock(block: unknown): ContentBlock {
  const { type, text, data, mimeType } = objectIn(block);
  if (type === "text" && typeof text === "string") return { type, text };
  if (type === "image" && typeof data === "string") {
    if (data.length > LONGEST_IMAGE) {
      return { type: "text", text: `[an image of ${data.length} characters, which is too large]` };
    }
    const kind = typeof mimeType === "string" ? mimeType.trim() : "";
    return { type, data, mimeType: kind === "" ? "application/octet-stream" : kind };
  }
  return { type: "text", text: asText(block) };
}

/** Long texts in several blocks, and what is too much is cut before the marker that ends the frame. */
function withinLimits(content: readonly ContentBlock[]): ContentBlock[] {
  const blocks = content.flatMap((block) => (block.type === "text" ? split(block.text) : [block]));
  if (blocks.length <= MOST_BLOCKS) return blocks;
  const cut = `[cut: ${blocks.length - MOST_BLOCKS + 1} further parts of the result]`;
  const last = blocks.at(-1);
  const end = last?.type === "text" ? last.text.slice(last.text.lastIndexOf("\n") + 1) : "";
  return [...blocks.slice(0, MOST_BLOCKS - 1), { type: "text", text: `${cut}\n${end}` }];
}

function split(text: string): ContentBlock[] {
  const parts: ContentBlock[] = [];
  let rest = text;
  while (rest.length > LONGEST_TEXT) {
    // The marker that ends the frame stays whole: it is the last line, and cuts are made at the end of a line.
    const line = rest.lastIndexOf("\n", LONGEST_TEXT - 1);
    const part = line > 0 ? rest.slice(0, line) : headOf(rest, LONGEST_TEXT);
    parts.push({ type: "text", text: part });
    rest = rest.slice(line > 0 ? line + 1 : part.length);
  }
  return [...parts, { type: "text", text: rest }];
}
