// OpenAI's chat API, which many others speak too.

/** @import { Api } from "../api.d.mts" */

import { openAiFailure } from "../failure.mjs";
import { read } from "./read.mjs";
import { frames, whole } from "./write.mjs";

/** @returns {Api} */
export function chatApi() {
  return {
    ordered: true,
    read,
    whole,
    frames,
    failure: openAiFailure,
    failureFrame: (error) => ({ data: openAiFailure(error) }),
  };
}
