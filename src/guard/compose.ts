// Stages around a call as one function. The chain is made once per tool; stages that have nothing to do
// for it are not in it.

import type { Next, Stage, StageFor, ToolSubject } from "../model/guard.ts";

/** The first stage is the outermost. */
export function compose(stages: readonly StageFor[], subject: ToolSubject, last: Next): Next {
  return stages
    .flatMap((stageFor) => stageFor(subject) ?? [])
    .reduceRight<Next>((next, stage) => around(stage, next), last);
}

function around(stage: Stage, next: Next): Next {
  return (call) => {
    let isSpent = false;
    return stage(call, (passed) => {
      // The call would be made twice: no stage may decide that.
      if (isSpent) throw new TypeError("a stage of the guard called next twice");
      isSpent = true;
      return next(passed);
    });
  };
}
