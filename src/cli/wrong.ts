// The error for something that was typed and cannot be done.

import { PlugboardError } from "../core/types/errors.ts";

export function wrong(message: string, hint?: string): PlugboardError {
  return new PlugboardError("INVALID_ARGUMENTS", message, { hint });
}
