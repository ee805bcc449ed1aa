// How the editor presents a tool call: a title that says what happens, and the kind that picks an icon.

import { sep } from "node:path";
import type { ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import type { JsonObject } from "../../../core/types/json.ts";
import type { Tool } from "../../../core/types/tool.ts";
import { oneLine } from "../../../util/text.ts";

const LONGEST_NAME = 60;
const LONGEST_ARGUMENT = 80;

/** Argument names that tell one call from another, the most informative first. */
const INFORMATIVE = [
  "path",
  "file",
  "file_path",
  "filename",
  "uri",
  "url",
  "query",
  "command",
  "name",
  "id",
  "title",
  "text",
];

/** What the user sees of a call before allowing it, in place of its arguments. */
export interface CallPreview {
  kind: ToolKind;
  title: string;
  content: ToolCallContent[];
  locations?: ToolCallLocation[];
  /** What "always allow" covers, if that is less than the whole tool. It then holds for the session. */
  always?: { name: string; key: string };
}

type Titled = Pick<Tool, "source" | "name" | "annotations">;
type Rated = Pick<Tool, "source" | "name" | "annotations" | "trusted">;

/** `filesystem: read file README.md` */
export function toolTitle(tool: Titled, args: JsonObject, cwd: string): string {
  const name = oneLine(ownTitle(tool), LONGEST_NAME);
  const who = tool.source.kind === "mcp" ? `${oneLine(tool.source.server, LONGEST_NAME)}: ` : "";
  const what = informativeArgument(args, cwd);
  return `${who}${name}${what === undefined ? "" : ` ${what}`}`;
}

/**
 * From the tool's own hints and its name. Clients such as acpx allow reads by the kind, and others edits, so a server that
 * is not trusted has no say in it.
 */
export function toolKind(tool: Rated): ToolKind {
  if (tool.source.kind === "mcp" && !tool.trusted) return "other";
  const { readOnlyHint, destructiveHint, openWorldHint } = tool.annotations ?? {};
  const name = tool.source.kind === "mcp" ? tool.source.tool : tool.name;
  if (readOnlyHint === true) {
    if (/search|find|query|grep/i.test(name)) return "search";
    return openWorldHint === true ? "fetch" : "read";
  }
  if (/(?:^|[_-])(?:run|exec|execute|shell|command|terminal)(?:[_-]|$)/i.test(name))
    return "execute";
  if (destructiveHint === true) return /delete|remove/i.test(name) ? "delete" : "edit";
  return "other";
}

function ownTitle({ annotations, source, name }: Titled): string {
  const title = annotations?.["title"];
  if (typeof title === "string" && title.trim() !== "") return title;
  return (source.kind === "mcp" ? source.tool : name).replace(/[_-]+/g, " ");
}

function informativeArgument(args: JsonObject, cwd: string): string | undefined {
  const key = INFORMATIVE.find((each) => Object.hasOwn(args, each) && isInformative(args[each]));
  if (key === undefined) return allArguments(args, cwd);
  return shorten(String(args[key]), cwd);
}

/** A single argument needs no name; of several, we cannot know which matters most. */
function allArguments(args: JsonObject, cwd: string): string | undefined {
  const informative = Object.entries(args).filter(([, value]) => isInformative(value));
  const [first, ...others] = informative;
  if (first === undefined) return undefined;
  if (others.length === 0) return shorten(String(first[1]), cwd);
  const each = informative.map(([key, value]) => `${key}=${shorten(String(value), cwd)}`);
  return oneLine(each.join(" "), LONGEST_ARGUMENT);
}

/** Shows a path below the session's directory relative to it. */
function shorten(value: string, cwd: string): string {
  const prefix = cwd.endsWith(sep) ? cwd : `${cwd}${sep}`;
  const isBelow = value.startsWith(prefix) && value.length > prefix.length;
  return oneLine(isBelow ? value.slice(prefix.length) : value, LONGEST_ARGUMENT);
}

function isInformative(value: unknown): boolean {
  return (typeof value === "string" && value.trim() !== "") || typeof value === "number";
}
