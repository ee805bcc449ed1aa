// What the host has to answer one of its servers with, and the capabilities that it advertises for that.

import type { OnElicitation } from "../../model/elicitation.ts";
import type { JsonObject } from "../../model/json.ts";
import type { LogLevel } from "../../model/logger.ts";
import type { RootsSource } from "../../model/roots.ts";
import type { OnSampling } from "../../model/sampling.ts";
import type { QuestionQueue } from "../../util/question-queue.ts";
import type { SamplingLimits } from "./sampling-limits.ts";

export interface HostAnswers {
  onElicitation?: OnElicitation;
  /** Absent where the server must not use the model. */
  sampling?: { onSampling: OnSampling; approvalRequired: boolean; limits: SamplingLimits };
  roots?: RootsSource;
  /** The board's queue, so that its callback gets one question at a time, whichever server asks. */
  questions?: QuestionQueue;
  /** The lowest level that servers should log. Default `warn`. */
  logLevel?: LogLevel;
}

/** What a connection that is opened now advertises. A server may list other tools for other capabilities. */
export function capabilitiesOf({ onElicitation, sampling, roots }: HostAnswers): JsonObject {
  return {
    ...(onElicitation !== undefined && { elicitation: { form: {}, url: {} } }),
    ...(sampling !== undefined && {
      sampling: takesTools(sampling.onSampling) ? { tools: {} } : {},
    }),
    ...(roots?.list() !== undefined && { roots: { listChanged: true } }),
  };
}

function takesTools(onSampling: OnSampling): boolean {
  return typeof onSampling !== "function" && onSampling.tools === true;
}
