// What the page does with a server as it is configured.

import { z } from "zod";
import type { Board } from "../../../../core/types/board.ts";
import type { ServerHistory } from "../../monitoring/server-history.ts";
import { type Methods, NAME } from "../method.ts";
import { showServer } from "../one-server.ts";

export interface ServerMethodsOptions {
  history: Pick<ServerHistory, "of">;
  boardOf: (agent: string) => Board;
}

export function serverMethods({
  boardOf,
  history,
}: ServerMethodsOptions): Methods<"servers/restart" | "servers/show"> {
  return {
    "servers/show": {
      isForViewers: true,
      takes: z.strictObject({ agent: NAME, server: NAME }),
      run: ({ agent, server }, { role }) =>
        showServer(server, role, { agent, board: boardOf(agent), history }),
    },
    "servers/restart": {
      takes: z.strictObject({ agent: NAME, server: NAME }),
      run: async ({ agent, server }) => {
        const { state } = await boardOf(agent).restart(server);
        return { state: state.kind };
      },
    },
  };
}
