// What the agent's own servers ask without a session that it is certainly about: nobody is there to answer,
// and no other session's person is asked.

import type { Logger } from "../../../model/logger.ts";
import type { RequestHandlers } from "../../../model/request-handlers.ts";

/** To be given to the board that sessions are laid over: without it its servers could not ask at all. */
export function askNobody(logger: Logger): Required<RequestHandlers> {
  const tell = (server: string): void =>
    logger.warn("a question was declined: it cannot be told whose session it is about", { server });
  return {
    onElicitation({ server }) {
      tell(server);
      return { action: "decline" };
    },
    onSampling: {
      tools: true,
      handler({ server }) {
        tell(server);
        return "declined";
      },
    },
  };
}
