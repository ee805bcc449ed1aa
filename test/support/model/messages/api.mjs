// Anthropic's messages API.

/** @import { Api } from "../api.d.mts" */

import { failure } from "./failure.mjs";
import { read } from "./read.mjs";
import { frames, whole } from "./write.mjs";

/** @returns {Api} */
export function messagesApi() {
  return {
    ordered: true,
    read,
    whole,
    frames,
    failure,
    failureFrame: (error) => ({ event: "error", data: failure(error) }),
  };
}
