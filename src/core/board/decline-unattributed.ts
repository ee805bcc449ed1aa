// Refuses questions from shared servers when we cannot tell which session they belong to. Asking the user of some
// other session would show one session's data in another.

import { PlugboardError } from "../types/errors.ts";
import type { Logger } from "../types/logger.ts";
import type { RequestHandlers } from "../types/request-handlers.ts";

const WHY =
  "nobody was asked, because it is not clear whose call the question belongs to: calls of several callers are under " +
  "way at this server, or none; call it again when no other call is under way there";

/** For the agent's board. Without these handlers it would not advertise to its servers that they may ask. */
export function declineUnattributed(logger: Logger): Required<RequestHandlers> {
  /** Throws NOT_APPROVED. If the call is known, its caller cannot be asked, and that is like a person who declines. */
  const refuse = (server: string, isCallKnown: boolean): void => {
    logger.warn("declined a question: it is not clear which session it belongs to", { server });
    if (!isCallKnown) throw new PlugboardError("NOT_APPROVED", WHY);
  };
  return {
    onElicitation(request) {
      const isCallKnown = request.mode === "url" && request.required;
      refuse(request.server, request.callId !== undefined || isCallKnown);
      return { action: "decline" };
    },
    onSampling: {
      tools: true,
      handler({ server, callId }) {
        refuse(server, callId !== undefined);
        return "declined";
      },
    },
  };
}
