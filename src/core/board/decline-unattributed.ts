// Declines questions from shared servers when we cannot tell which session they belong to. Asking the user of some
// other session would show one session's data in another.

import type { Logger } from "../types/logger.ts";
import type { RequestHandlers } from "../types/request-handlers.ts";

/** For the agent's board. Without these handlers it would not advertise to its servers that they may ask. */
export function declineUnattributed(logger: Logger): Required<RequestHandlers> {
  const warn = (server: string): void =>
    logger.warn("declined a question: it is not clear which session it belongs to", { server });
  return {
    onElicitation({ server }) {
      warn(server);
      return { action: "decline" };
    },
    onSampling: {
      tools: true,
      handler({ server }) {
        warn(server);
        return "declined";
      },
    },
  };
}
