// A server's pins as the content of a file. What does not read as pins is none.

import { isJsonObject } from "../../model/json.ts";
import type { PinnedTool } from "./hash.ts";
import type { Pin, ServerPins, Sight } from "./pin.ts";

const FORMAT = 1;

type Check<Value> = (value: unknown) => value is Value;

export function toFile({ server, key, instructions, tools }: ServerPins): object {
  // A list, since a name of a server's choosing is no key for an object.
  return { format: FORMAT, server, key, instructions, tools: [...tools] };
}

export function fromFile(content: unknown): ServerPins | undefined {
  if (!isJsonObject(content) || content["format"] !== FORMAT) return undefined;
  const { server, key, instructions, tools } = content;
  if (typeof server !== "string" || typeof key !== "string") return undefined;
  if (!isPin(instructions, isText) || !Array.isArray(tools) || !tools.every(isNamedPin)) {
    return undefined;
  }
  return { server, key, instructions, tools: new Map(tools) };
}

function isNamedPin(entry: unknown): entry is [string, Pin<PinnedTool>] {
  return Array.isArray(entry) && typeof entry[0] === "string" && isPin(entry[1], isTool);
}

function isPin<Value>(pin: unknown, isValue: Check<Value>): pin is Pin<Value> {
  if (!isJsonObject(pin) || typeof pin["firstSeen"] !== "number") return false;
  const { kind, approved, pending } = pin;
  switch (kind) {
    case "pinned":
      return isSight(approved, isValue);
    case "changed":
      return isSight(approved, isValue) && isSight(pending, isValue);
    case "new":
      return isSight(pending, isValue);
    default:
      return false;
  }
}

function isSight<Value>(sight: unknown, isValue: Check<Value>): sight is Sight<Value> {
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
