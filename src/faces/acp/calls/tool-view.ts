// A tool call as a person wants to see it: a title that says what happens, and its kind.

import { sep } from "node:path";
import type { ToolKind } from "@agentclientprotocol/sdk";
import type { JsonObject } from "../../../model/json.ts";
import type { Tool } from "../../../model/tool.ts";
import { oneLine } from "../../../util/text.ts";

const LONGEST_NAME = 60;
const LONGEST_ARGUMENT = 80;

/** The arguments that tell one call from another, the most telling first. */
const TELLING = [
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

type Titled = Pick<Tool, "source" | "name" | "annotations">;

/** `filesystem: read file README.md` */
export function toolTitle(tool: Titled, args: JsonObject, cwd: string): string {
  const name = oneLine(ownTitle(tool), LONGEST_NAME);
  const who = tool.source.kind === "mcp" ? `${oneLine(tool.source.server, LONGEST_NAME)}: ` : "";
  const what = tellingArgument(args, cwd);
  return `${who}${name}${what === undefined ? "" : ` ${what}`}`;
}

/** By what the tool says of itself; a kind decides on an icon, never on a permission. */
export function toolKind(tool: Tool): ToolKind {
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

function tellingArgument(args: JsonObject, cwd: string): string | undefined {
  const key = TELLING.find((each) => Object.hasOwn(args, each) && isTelling(args[each]));
  if (key === undefined) return allArguments(args, cwd);
  return asShown(String(args[key]), cwd);
}

/** One speaks for itself; of several none is known to tell more than the others. */
function allArguments(args: JsonObject, cwd: string): string | undefined {
  const telling = Object.entries(args).filter(([, value]) => isTelling(value));
  const [first, ...others] = telling;
  if (first === undefined) return undefined;
  if (others.length === 0) return asShown(String(first[1]), cwd);
  const each = telling.map(([key, value]) => `${key}=${asShown(String(value), cwd)}`);
  return oneLine(each.join(" "), LONGEST_ARGUMENT);
}

/** A path below the session's directory is shown from there. */
function asShown(value: string, cwd: string): string {
  const prefix = cwd.endsWith(sep) ? cwd : `${cwd}${sep}`;
  const isBelow = value.startsWith(prefix) && value.length > prefix.length;
  return oneLine(isBelow ? value.slice(prefix.length) : value, LONGEST_ARGUMENT);
}

function isTelling(value: unknown): boolean {
  return (typeof value === "string" && value.trim() !== "") || typeof value === "number";
}
