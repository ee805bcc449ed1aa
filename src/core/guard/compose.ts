// Runs a call through the stages around it. Their halves share one async function: a function for each stage would
// cost a call a dozen promises.

import type { Callee, GuardedCall, Next, Stage } from "../types/guard.ts";
import type { CallOutcome } from "../types/tool.ts";
import type { Clock } from "../../util/clock.ts";

/** The stages around a callee, the first one outermost. A call that somebody watches notes what each of them took. */
export function compose<Answer>(
  stages: readonly Stage[],
  callee: Callee<Answer>,
  clock: Clock,
): Next {
  const plain = chain(stages, callee, clock);
  let watched: Next | undefined;
  return (call) => {
    if (call.timeline === undefined) return plain(call);
    watched ??= chain(
      stages.map((stage) => timedStage(stage, clock)),
      timedCallee(callee, clock),
      clock,
    );
    return watched(call);
  };
}

function chain<Answer>(stages: readonly Stage[], callee: Callee<Answer>, clock: Clock): Next {
  // Looked up once, not by each call: the stages are objects with different members, in which a lookup is slow.
  const befores = stages.map(({ before }) => before);
  const afters = stages.map(({ after }) => after);
  return async (call) => {
    /** How many stages the call has entered. */
    let entered = 0;
    let outcome: CallOutcome | undefined;
    let failure: unknown;
    try {
      // Not `for … of`, which makes an object for each stage.
      for (; entered < stages.length; entered += 1) {
        const waiting = befores[entered]?.(call);
        if (waiting === undefined) continue;
        await waiting;
        call.now = clock.monotonic();
      }
      try {
        const answer = await callee.send(call);
        call.now = clock.monotonic();
        outcome = callee.received(call, answer);
      } catch (error) {
        call.now = clock.monotonic();
        outcome = callee.failed(call, error);
      }
    } catch (error) {
      call.now = clock.monotonic();
      failure = error;
    }
    while (entered > 0) {
      entered -= 1;
      const after = afters[entered];
      try {
        if (outcome === undefined) outcome = stages[entered]?.failed?.(call, failure);
        else if (after !== undefined) {
          const changed = after(call, outcome);
          if (changed instanceof Promise) {
            outcome = await changed;
            call.now = clock.monotonic();
          } else outcome = changed;
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

type Half = "before" | "call" | "after";

function note(call: GuardedCall, stage: string, half: Half, began: number, ended: number): void {
  call.timeline?.steps.push({ stage, half, at: began - call.started, ms: ended - began });
}

/** The outermost stage has no name: it only ends the call. */
function timedStage(stage: Stage, clock: Clock): Stage {
  const { name, before, after, failed } = stage;
  if (name === undefined) return stage;
  return {
    ...(before && {
      before(call) {
        const began = clock.monotonic();
        const end = (): void => note(call, name, "before", began, clock.monotonic());
        let waiting: Promise<void> | undefined;
        try {
          waiting = before(call);
        } catch (error) {
          end();
          throw error;
        }
        if (waiting !== undefined) return waiting.finally(end);
        end();
        return undefined;
      },
    }),
    ...(after && {
      after(call, outcome) {
        const began = clock.monotonic();
        const end = (): void => note(call, name, "after", began, clock.monotonic());
        const changed = after(call, outcome);
        if (changed instanceof Promise) return changed.finally(end);
        end();
        return changed;
      },
    }),
    ...(failed && { failed }),
  };
}

function timedCallee<Answer>(
  { send, received, failed }: Callee<Answer>,
  clock: Clock,
): Callee<Answer> {
  return {
    async send(call) {
      const began = clock.monotonic();
      try {
        return await send(call);
      } finally {
        note(call, "the tool", "call", began, clock.monotonic());
      }
    },
    received,
    failed,
  };
}
