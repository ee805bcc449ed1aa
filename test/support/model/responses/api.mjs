// OpenAI's responses API.

/** @import { Api } from "../api.d.mts" */

import { openAiFailure } from "../failure.mjs";
import { Memory } from "./memory.mjs";
import { read } from "./read.mjs";
import { frames, whole } from "./write.mjs";

/** @returns {Api} */
export function responsesApi() {
  const memory = new Memory();
  /** @param {Parameters<typeof whole>[0]} answer */
  const kept = (answer) => {
    const response = whole(answer);
    memory.keep(answer.body, response.id, response.output);
    return response;
  };
  return {
    ordered: false,
    read: (body) => read(body, memory.recall(body)),
    whole: kept,
    frames(answer) {
      kept(answer);
      return frames(answer);
    },
    failure: openAiFailure,
    failureFrame: ({ status, message }) => ({
      event: "error",
      data: { type: "error", code: `http_${status}`, message, param: null, sequence_number: 0 },
    }),
  };
}
