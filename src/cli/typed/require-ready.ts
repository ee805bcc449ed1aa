// Ends a command whose typed server cannot be used: there is no other server that could answer.

import type { Board } from "../../core/types/board.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { oneLine } from "../../util/text.ts";
import type { GlobalOptions } from "../context.ts";

/** Nothing for configured servers. Throws why the typed one did not start. */
export function requireReady(
  board: Pick<Board, "status">,
  { typed }: Pick<GlobalOptions, "typed">,
): void {
  if (typed === undefined) return;
  for (const { name: server, state } of board.status()) {
    if (state.kind === "failed" || state.kind === "backoff") throw state.error;
    if (state.kind !== "needs-auth") continue;
    throw new PlugboardError("NEEDS_AUTH", `${oneLine(server)} did not let you in`, {
      server,
      hint: state.remedy,
    });
  }
}
