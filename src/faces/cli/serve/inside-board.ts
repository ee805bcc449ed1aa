// Refuses a board among the servers of a board: it would start itself again, and that one the next.

import { PlugboardError } from "../../../model/errors.ts";
import { COOKIE_VARIABLE } from "../../../util/environment.ts";
import type { CliIo } from "../io.ts";

/** Throws CONFIG_INVALID. */
export function refuseInsideBoard({ env }: Pick<CliIo, "env">): void {
  // Every process of a server has it.
  if (!env[COOKIE_VARIABLE]) return;
  throw new PlugboardError(
    "CONFIG_INVALID",
    "a server of Plugboard has started Plugboard again, and that would never end",
    {
      hint: `take plugboard out of the servers of its own configuration; where you do mean it, remove ${COOKIE_VARIABLE} from its environment`,
    },
  );
}
