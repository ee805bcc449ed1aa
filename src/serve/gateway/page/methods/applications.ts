// The applications of this machine, as the page shows them. What changes their files is a change like any other.

import { z } from "zod";
import { PlugboardError } from "../../../../core/types/errors.ts";
import type { ApplicationFacts } from "../wire.ts";
import type { Methods } from "../method.ts";

export function applicationMethods(
  find: (() => Promise<ApplicationFacts[]>) | undefined,
): Methods<"applications/list"> {
  return {
    "applications/list": {
      takes: z.strictObject({}),
      run: async () => {
        if (find !== undefined) return { applications: await find() };
        throw new PlugboardError("UNSUPPORTED", "this gateway does not look for applications");
      },
    },
  };
}
