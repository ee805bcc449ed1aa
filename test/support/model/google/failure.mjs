// Failures as Google's API puts them.

/** @import { Json } from "../api.d.mts" */
/** @import { TurnError } from "../start.mjs" */

/** @type {Record<number, string>} */
const STATUSES = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
};

/**
 * @param {TurnError} error
 * @returns {Json}
 */
export function failure({ status, message }) {
  return { error: { code: status, message, status: STATUSES[status] ?? "INTERNAL" } };
}
