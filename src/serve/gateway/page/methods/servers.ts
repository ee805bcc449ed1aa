// What the page does with a server as it is configured.

import type { SignOutOutcome } from "../../../../core/types/authorization.ts";
import type { Board } from "../../../../core/types/board.ts";
import type { ServerHistory } from "../../monitoring/server-history.ts";
import { PlugboardError } from "../../../../core/types/errors.ts";
import type { Decisions } from "../decisions.ts";
import { type Methods, ONE_SERVER } from "../method.ts";
import type { Visitor } from "../visitors.ts";
import { showServer } from "../one-server.ts";

export interface ServerMethodsOptions {
  history: Pick<ServerHistory, "of">;
  boardOf: (agent: string) => Board;
  /** What a visitor does for themselves. Undefined where one sign-in is for everybody, and for the agent's own user. */
  own: {
    /** Where they sign in. */
    signIn: (agent: string, server: string, visitor: Visitor) => string | undefined;
    signOut: (
      agent: string,
      server: string,
      visitor: Visitor,
    ) => Promise<SignOutOutcome> | undefined;
  };
}

export function serverMethods(
  { boardOf, own, history }: ServerMethodsOptions,
  decisions: Pick<Decisions, "record">,
): Methods<
  "servers/restart" | "servers/stop" | "servers/show" | "servers/signIn" | "servers/signOut"
> {
  return {
    "servers/show": {
      isForViewers: true,
      takes: ONE_SERVER,
      run: ({ agent, server }, { role }) =>
        showServer(server, role, { agent, board: boardOf(agent), history }),
    },
    "servers/signIn": {
      takes: ONE_SERVER,
      run: async ({ agent, server }, visitor) => {
        const url =
          own.signIn(agent, server, visitor) ?? (await pageToSignIn(boardOf(agent), server));
        await decisions.record(visitor, { decided: `sign in to ${server}`, agent, server });
        return { url };
      },
    },
    "servers/signOut": {
      takes: ONE_SERVER,
      run: async ({ agent, server }, visitor) => {
        const outcome = await (own.signOut(agent, server, visitor) ??
          boardOf(agent).signOut(server));
        await decisions.record(visitor, { decided: `sign out of ${server}`, agent, server });
        return { outcome };
      },
    },
    "servers/restart": {
      takes: ONE_SERVER,
      run: async ({ agent, server }, visitor) => {
        const { state } = await boardOf(agent).restart(server);
        await decisions.record(visitor, { decided: `start ${server} again`, agent, server });
        return { state: state.kind };
      },
    },
    "servers/stop": {
      takes: ONE_SERVER,
      run: async ({ agent, server }, visitor) => {
        const { state } = await boardOf(agent).stop(server);
        await decisions.record(visitor, { decided: `stop ${server}`, agent, server });
        return { state: state.kind };
      },
    },
  };
}

/** The server's page, as soon as it is known. The sign-in goes on by itself: the state of the server tells how it ends. */
function pageToSignIn(board: Board, server: string): Promise<string> {
  return new Promise((resolve, reject) => {
    board
      .signIn(server, { onAuthorization: ({ url }) => resolve(webPage(url)) })
      .then(() => reject(needsNoPage(server)), reject);
  });
}

function needsNoPage(server: string): PlugboardError {
  return new PlugboardError("UNSUPPORTED", `you are signed in to '${server}' already`);
}

/** Throws UNSUPPORTED for what a browser would not take for a page. */
function webPage(url: string): string {
  if (/^https?:/i.test(url)) return url;
  throw new PlugboardError("UNSUPPORTED", "the server names no page to sign in");
}
