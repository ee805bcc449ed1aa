// What a provider would answer with 400.

export class BadRequest extends Error {}

/**
 * @param {unknown} condition
 * @param {string} message
 * @returns {asserts condition}
 */
export function must(condition, message) {
  if (!condition) throw new BadRequest(message);
}
