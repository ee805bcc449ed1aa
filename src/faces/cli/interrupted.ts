// The reason to give up what is being waited for when the command must end.

import { PlugboardError } from "../../model/errors.ts";

export function interrupted(): PlugboardError {
  return new PlugboardError("CANCELLED", "interrupted");
}
