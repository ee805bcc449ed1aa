// A change of the configuration, in two requests: one shows it, the other confirms what was shown.

import { z } from "zod";
import type { Changes } from "../changes.ts";
import { type Methods, NAME } from "../method.ts";

export function changeMethods(changes: Changes): Methods<"changes/preview" | "changes/confirm"> {
  return {
    "changes/preview": {
      takes: z.strictObject({ change: z.looseObject({ kind: NAME }) }) as never,
      run: ({ change }, visitor) => changes.preview(change, visitor),
    },
    "changes/confirm": {
      takes: z.strictObject({ hash: NAME }),
      run: ({ hash }, visitor) => changes.confirm(hash, visitor),
    },
  };
}
