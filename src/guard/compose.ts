// Stages around a call as one function. The chain is made once per tool; stages that have nothing to do
// for it are not in it.

import type { Next, StageFor, ToolSubject } from "../model/guard.ts";

/** The first stage is the outermost. A stage calls `next` once at most: the call would be made twice. */
export function compose(stages: readonly StageFor[], subject: ToolSubject, last: Next): Next {
  return stages
    .flatMap((stageFor) => stageFor(subject) ?? [])
    .reduceRight<Next>((next, stage) => (call) => stage(call, next), last);
}
