// Whether something is at a path.

import { stat } from "node:fs/promises";

/** A link to nothing does not exist, and neither does what cannot be looked at. */
export async function pathExists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
