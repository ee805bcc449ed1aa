// Looking into JSON of which nothing is known.

/** @import { Json } from "./api.d.mts" */

/**
 * @param {unknown} value
 * @returns {value is Json}
 */
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The objects of a list; anything else is left out.
 * @param {unknown} value
 * @returns {Json[]}
 */
export function objects(value) {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/**
 * @param {unknown} value
 * @returns {string}
 */
export function string(value) {
  return typeof value === "string" ? value : "";
}

/**
 * The text of what may be a string or a list of parts. Parts without text are left out.
 * @param {unknown} content
 * @returns {string}
 */
export function textOf(content) {
  if (typeof content === "string") return content;
  return objects(content)
    .map((part) => string(part.text))
    .join("");
}
