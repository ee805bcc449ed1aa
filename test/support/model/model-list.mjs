// `GET /v1/models`, in a form that clients of either provider read.

/** @import { Json } from "./api.d.mts" */

/**
 * @param {readonly string[]} models
 * @param {number} now
 * @returns {Json}
 */
export function toModelList(models, now) {
  return {
    object: "list",
    data: models.map((id) => ({
      id,
      object: "model",
      created: Math.floor(now / 1000),
      owned_by: "script",
      type: "model",
      display_name: id,
      created_at: new Date(now).toISOString(),
    })),
    has_more: false,
    first_id: models[0] ?? null,
    last_id: models.at(-1) ?? null,
  };
}
