// A server that does not know what it was asked for, though it may have said that it would.

import { PlugboardError } from "../model/errors.ts";
import { isJsonObject } from "../model/json.ts";

const METHOD_NOT_FOUND = -32601;

export function isMethodNotFound(error: unknown): boolean {
  if (!(error instanceof PlugboardError) || !isJsonObject(error.cause)) return false;
  const wire = error.cause.error;
  return isJsonObject(wire) && wire.code === METHOD_NOT_FOUND;
}
