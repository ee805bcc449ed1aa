// Runs a call through the stages around it. Their halves share one async function: a function for each stage would
// cost a call a dozen promises.

import type { Next, Stage, Target } from "../model/guard.ts";
import type { CallOutcome } from "../model/tool.ts";
import type { Clock } from "../util/clock.ts";

/** The stages around a target, the first one outermost. */
export function compose<Answer>(
  stages: readonly Stage[],
  target: Target<Answer>,
  clock: Clock,
): Next {
  return async (call) => {
    /** How many stages the call has entered. */
    let entered = 0;
    let outcome: CallOutcome | undefined;
    let failure: unknown;
    try {
      for (const { before } of stages) {
        const waiting = before?.(call);
        if (waiting !== undefined) {
          await waiting;
          call.now = clock.monotonic();
        }
        entered += 1;
      }
      try {
        const answer = await target.send(call);
        call.now = clock.monotonic();
        outcome = target.received(call, answer);
      } catch (error) {
        call.now = clock.monotonic();
        outcome = target.failed(call, error);
      }
    } catch (error) {
      failure = error;
    }
    while (entered > 0) {
      entered -= 1;
      const { after, failed } = stages[entered] ?? {};
      try {
        if (outcome === undefined) outcome = failed?.(call, failure);
        else if (after !== undefined) {
          const changed = after(call, outcome);
          outcome = changed instanceof Promise ? await changed : changed;
        }
      } catch (error) {
        outcome = undefined;
        failure = error;
      }
    }
    if (outcome === undefined) throw failure;
    return outcome;
  };
}
