// What somebody has typed and cannot be done, as an error.

import { PlugboardError } from "../core/types/errors.ts";

export function wrong(message: string, hint?: string): PlugboardError {
  return new PlugboardError("INVALID_ARGUMENTS", message, { hint });
}
