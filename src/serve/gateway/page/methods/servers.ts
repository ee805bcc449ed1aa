// What the page does with a server as it is configured.

import { z } from "zod";
import type { Board } from "../../../../core/types/board.ts";
import { type Methods, NAME } from "../method.ts";

export interface ServerMethodsOptions {
  boardOf: (agent: string) => Board;
}

export function serverMethods({ boardOf }: ServerMethodsOptions): Methods<"servers/restart"> {
  return {
    "servers/restart": {
      takes: z.strictObject({ agent: NAME, server: NAME }),
      run: async ({ agent, server }) => {
        const { state } = await boardOf(agent).restart(server);
        return { state: state.kind };
      },
    },
  };
}
