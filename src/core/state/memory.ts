// The stores of a board without shared state: what they hold ends with the process.

import type { JsonObject } from "../types/json.ts";
import type { ServerPins } from "../types/pin.ts";
import { type GrantStore, type PinStore, UNCHANGED } from "../types/shared-state.ts";
import { canonicalJson } from "../../util/canonical-json.ts";

export function memoryPins(): PinStore {
  const held = new Map<string, ServerPins>();
  const nameOf = (server: string, key: string): string => JSON.stringify([server, key]);
  return {
    isPersistent: false,
    async read({ server, key }) {
      const pins = held.get(nameOf(server, key));
      return pins === undefined ? { kind: "none" } : { kind: "pinned", pins };
    },
    async update({ server, key }, change) {
      const name = nameOf(server, key);
      const before = held.get(name);
      const after = change(before, undefined);
      if (after === UNCHANGED) return before;
      if (after === undefined) held.delete(name);
      else held.set(name, after);
      return after;
    },
    list: async () => [...held].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, pins]) => pins),
    lost: async () => [],
  };
}

/** Two servers of a board may have the same grant, so it has a lease too. */
export function memoryGrants(): GrantStore {
  const held = new Map<string, JsonObject>();
  /** The last holder of each lease, or who waits for it. */
  const leases = new Map<string, Promise<unknown>>();
  return {
    read: async (kind, key) => held.get(`${kind}-${key}`),
    async write(kind, key, value) {
      held.set(`${kind}-${key}`, value);
    },
    async remove(kind, key) {
      held.delete(`${kind}-${key}`);
    },
    async replace(kind, key, before, after) {
      const name = `${kind}-${key}`;
      if (canonicalJson(held.get(name)) !== canonicalJson(before)) return false;
      if (after === undefined) held.delete(name);
      else held.set(name, after);
      return true;
    },
    async withLease(key, task) {
      const holding = (leases.get(key) ?? Promise.resolve()).then(task);
      const ended = holding.catch(() => {});
      leases.set(key, ended);
      await ended;
      if (leases.get(key) === ended) leases.delete(key);
      return holding;
    },
  };
}
