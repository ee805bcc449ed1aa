// Google's generateContent API.

/** @import { Api } from "../api.d.mts" */

import { failure } from "./failure.mjs";
import { read } from "./read.mjs";
import { frames, whole } from "./write.mjs";

/** @returns {Api} */
export function googleApi() {
  return {
    ordered: true,
    read,
    whole,
    frames,
    failure,
    failureFrame: (error) => ({ data: failure(error) }),
  };
}

/**
 * Its requests say in their path which model is meant, and how it is to answer.
 * @param {string} path
 * @returns {{ model: string, stream: boolean } | undefined}
 */
export function readPath(path) {
  const [, model, verb] =
    /^\/v1(?:beta)?\/models\/([^/:]+):(generateContent|streamGenerateContent)$/.exec(path) ?? [];
  return model === undefined ? undefined : { model, stream: verb === "streamGenerateContent" };
}
