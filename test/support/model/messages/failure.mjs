// Failures as Anthropic's API puts them.

/** @import { Json } from "../api.d.mts" */
/** @import { TurnError } from "../start.mjs" */

/** @type {Record<number, string>} */
const TYPES = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  405: "invalid_request_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
};

/**
 * @param {TurnError} error
 * @returns {Json}
 */
export function failure({ status, message }) {
  return { type: "error", error: { type: TYPES[status] ?? "api_error", message } };
}
