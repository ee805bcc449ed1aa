// Answers a request that a quota counts, unless its caller has none left.

import type { Exchange } from "./client.ts";
import type { CountCall, CountedCall } from "./context.ts";
import type { Answer } from "./message.ts";

/** Not async: without a quota, a call must not pay for it. */
export function counted(
  { client }: Exchange,
  countCall: CountCall,
  answer: () => Answer | Promise<Answer>,
  refuse: (why: string) => Answer,
): Answer | Promise<Answer> {
  const found = countCall(client.caller);
  if (found === undefined) return answer();
  const go = async (call: CountedCall | undefined): Promise<Answer> => {
    if (call === undefined) return answer();
    if ("refused" in call) return refuse(call.refused);
    try {
      return await answer();
    } finally {
      call.end();
    }
  };
  return found instanceof Promise ? found.then(go) : go(found);
}
