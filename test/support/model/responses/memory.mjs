// What this API keeps for its clients: items that later requests only refer to, and whole conversations.

/** @import { Json } from "../api.d.mts" */

import { must } from "../bad-request.mjs";
import { objects, string } from "../json.mjs";

export class Memory {
  /** @type {Map<string, Json>} */
  #items = new Map();
  /** @type {Map<string, Json[]>} */
  #conversations = new Map();

  /**
   * Everything that a request's `input` stands for.
   * @param {Json} body
   * @returns {Json[]}
   */
  recall({ input, previous_response_id: previous }) {
    const items = typeof input === "string" ? [{ role: "user", content: input }] : objects(input);
    return [...this.#conversation(previous), ...items.map((item) => this.#item(item))];
  }

  /**
   * @param {Json} body
   * @param {string} id of the response
   * @param {Json[]} output
   */
  keep(body, id, output) {
    if (body.store === false) return;
    this.#conversations.set(id, [...this.recall(body), ...output]);
    for (const item of output) this.#items.set(string(item.id), item);
  }

  /** @param {unknown} id */
  #conversation(id) {
    if (typeof id !== "string") return [];
    const known = this.#conversations.get(id);
    must(known, `previous_response_id: there is no response '${id}'`);
    return known;
  }

  /** @param {Json} item */
  #item(item) {
    if (item.type !== "item_reference") return item;
    const known = this.#items.get(string(item.id));
    must(known, `input: there is no item '${string(item.id)}'`);
    return known;
  }
}
