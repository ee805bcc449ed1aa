// Failures as OpenAI's APIs put them.

/** @import { Json } from "./api.d.mts" */
/** @import { TurnError } from "./start.mjs" */

/** @type {Record<number, string>} */
const TYPES = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  405: "invalid_request_error",
  429: "rate_limit_error",
};

/**
 * @param {TurnError} error
 * @returns {Json}
 */
export function openAiFailure({ status, message }) {
  return { error: { message, type: TYPES[status] ?? "server_error", param: null, code: null } };
}
