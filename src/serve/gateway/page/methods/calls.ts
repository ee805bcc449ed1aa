// One call of those that are kept while a page is open.

import { z } from "zod";
import { PlugboardError } from "../../../../core/types/errors.ts";
import { callFor } from "../live.ts";
import { type Methods, NAME } from "../method.ts";
import type { WatchedCalls } from "../watched-calls.ts";

export function callMethods(calls: Pick<WatchedCalls, "show">): Methods<"calls/show"> {
  return {
    "calls/show": {
      isForViewers: true,
      takes: z.strictObject({ id: NAME }),
      run: async ({ id }, { role }) => {
        const call = calls.show(id);
        if (call === undefined) throw goneCall();
        const { facts, steps } = call;
        return role === "owner" ? call : { facts: callFor(role, facts), steps };
      },
    },
  };
}

function goneCall(): PlugboardError {
  return new PlugboardError("INVALID_ARGUMENTS", "nothing is kept of this call any more", {
    hint: "the last calls are kept while a page is open; the audit has all of them",
  });
}
