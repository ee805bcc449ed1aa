// Ends a command that writes down the tools of servers, if the tools of one are not known.

import type { Board } from "../core/types/board.ts";
import { PlugboardError } from "../core/types/errors.ts";
import { shellWord } from "../util/text.ts";
import type { CliContext } from "./context.ts";
import { stateNotes } from "./status/server-state.ts";

const UNKNOWN_YET: ReadonlySet<string> = new Set(["failed", "backoff", "needs-auth", "starting"]);

/** A file without the tools of one server would replace one that has them. */
export function requireTools(board: Pick<Board, "status">, { options }: CliContext): void {
  const statuses = board.status();
  const missing = statuses.find(({ state, cached }) => UNKNOWN_YET.has(state.kind) && !cached);
  if (missing === undefined) return;
  const { name, state } = missing;
  const [why = "it has not answered in time"] = stateNotes(state, options);
  const others = statuses.filter((each) => !UNKNOWN_YET.has(each.state.kind));
  const [other] = others;
  throw new PlugboardError(
    state.kind === "needs-auth" ? "NEEDS_AUTH" : "SERVER_UNAVAILABLE",
    `the tools of '${name}' are not known, so nothing was written: ${why}`,
    {
      server: name,
      hint:
        other === undefined
          ? `to see what is wrong: plugboard status ${shellWord(name)}`
          : `to leave it out, name the servers you want: plugboard types ${others.map((each) => shellWord(each.name)).join(" ")}`,
    },
  );
}
