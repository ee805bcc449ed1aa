// Names a file after a text of any length, such as the path of another file.

import { createHash } from "node:crypto";

export function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
