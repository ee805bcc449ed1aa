// What a model says to `search_tools` and `call_tool`, and what it reads there, whether they are in the prompt of the loop or
// served over MCP.

import { readArguments } from "../tools/model-call.ts";
import { invalidRequest, type PlugboardError } from "../types/errors.ts";
import type { JsonObject } from "../types/json.ts";
import { oneLine } from "../../util/text.ts";

const MOST_QUERIES = 10;
const LONGEST_QUERY = 500;
const MOST_SERVERS = 60;

/** The schema of `queries`. */
export const QUERIES = {
  type: "array",
  items: { type: "string" },
  description: 'What the tools should do, such as ["create an issue", "send a message"]',
} as const;

export const NOTHING_FOUND = "No tool was found. Ask in other words, or with fewer of them.";

/** Undefined if the value is neither a text nor a list of texts. Models give one for the other. */
export function readTexts(value: unknown): string[] | undefined {
  const list = value === undefined ? [] : [value].flat();
  if (!list.every((each) => typeof each === "string")) return undefined;
  return list
    .map((each) => each.trim().slice(0, LONGEST_QUERY))
    .filter((each) => each !== "")
    .slice(0, MOST_QUERIES);
}

export function noQueries(): PlugboardError {
  return invalidRequest('queries must be a list of texts, such as ["create an issue"]');
}

/** How many tools the model wants, at most `most`. Throws INVALID_ARGUMENTS. */
export function readLimit(limit: unknown, most: number): number {
  if (typeof limit === "number" && limit >= 1) return Math.min(Math.floor(limit), most);
  throw invalidRequest("limit must be a number from 1");
}

/** The arguments for the tool that is called: an object, or one as JSON text. Throws INVALID_ARGUMENTS. */
export function readCalledArguments(given: unknown): JsonObject {
  const args = readArguments(given);
  if (typeof args !== "string") return args;
  throw invalidRequest(`arguments ${args}`);
}

export function listServers(names: readonly string[]): string {
  return listNames(names, MOST_SERVERS);
}

/** `a, b and 3 more` */
export function listNames(names: readonly string[], most: number): string {
  const shown = names.slice(0, most).map((name) => oneLine(name, 80));
  const more = names.length > most ? ` and ${names.length - most} more` : "";
  return `${shown.join(", ")}${more}`;
}
