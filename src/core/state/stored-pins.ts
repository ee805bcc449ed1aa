// Pins as JSON, wherever they are stored.

import { isJsonObject } from "../types/json.ts";
import type { Pin, PinnedServer, PinnedTool, SeenValue, ServerPins } from "../types/pin.ts";

const FORMAT = 1;

export function byName(a: PinnedServer, b: PinnedServer): number {
  return compareText(a.server, b.server) || compareText(a.key, b.key);
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

type Check<Value> = (value: unknown) => value is Value;

/** As JSON. */
export function pinsToJson(pins: ServerPins): object {
  const { server, key, seenWith, instructions, tools } = pins;
  return {
    format: FORMAT,
    server,
    key,
    // Says that no secrets are in it. A file without it is not read, because everybody is shown what a file has.
    redacted: true,
    seenWith,
    instructions,
    // A list: the server chooses the names, and an object could not hold a tool called __proto__.
    tools: [...tools],
  };
}

/** Undefined if it is not whole: another version may have written it, or somebody else. */
export function pinsFromJson(content: unknown): ServerPins | undefined {
  if (!isJsonObject(content) || content["format"] !== FORMAT) return undefined;
  const { server, key, redacted, seenWith, instructions, tools } = content;
  if (!isText(server) || !isText(key) || redacted !== true) return undefined;
  if (!Array.isArray(seenWith) || !seenWith.every(isText)) return undefined;
  if (!isPin(instructions, isText)) return undefined;
  if (!Array.isArray(tools) || !tools.every(isNamedPin)) return undefined;
  return { server, key, seenWith, instructions, tools: new Map(tools) };
}

function isNamedPin(entry: unknown): entry is [string, Pin<PinnedTool>] {
  return Array.isArray(entry) && typeof entry[0] === "string" && isPin(entry[1], isTool);
}

function isPin<Value>(pin: unknown, isValue: Check<Value>): pin is Pin<Value> {
  if (!isJsonObject(pin) || typeof pin["firstSeen"] !== "number") return false;
  const { kind, approved, pending } = pin;
  switch (kind) {
    case "pinned":
      return isSeenValue(approved, isValue);
    case "changed":
      return isSeenValue(approved, isValue) && isSeenValue(pending, isValue);
    case "new":
      return isSeenValue(pending, isValue);
    default:
      return false;
  }
}

function isSeenValue<Value>(sight: unknown, isValue: Check<Value>): sight is SeenValue<Value> {
  return (
    isJsonObject(sight) &&
    typeof sight["hash"] === "string" &&
    typeof sight["seen"] === "number" &&
    isValue(sight["value"])
  );
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTool(value: unknown): value is PinnedTool {
  return (
    isJsonObject(value) && typeof value["name"] === "string" && isJsonObject(value["inputSchema"])
  );
}
