// Removes secrets from stored pins. A text may have become a secret only after it was pinned.

import type { Pin, PinnedTool, SeenValue, ServerPins } from "../../types/pin.ts";
import { type PinStore, UNCHANGED } from "../../types/shared-state.ts";
import { type Redact, toolWithoutSecrets } from "../../types/without-secrets.ts";
import { textHash, toolHash } from "./hash.ts";

/** The same store, whose pins have no secrets. Those that have are replaced when they are read or changed. */
export function cleanPins(store: PinStore, redact: Redact): PinStore {
  const update: PinStore["update"] = async (id, change) => {
    let clean: ServerPins | undefined;
    let isUnchanged = false;
    const stored = await store.update(id, (pins, lost) => {
      clean = pins && withoutSecrets(pins, redact);
      const after = change(clean, lost);
      isUnchanged = after === UNCHANGED;
      return after;
    });
    return isUnchanged ? clean : stored;
  };
  return {
    isPersistent: store.isPersistent,
    update,
    list: () => store.list(),
    lost: () => store.lost(),
    async read(id) {
      const stored = await store.read(id);
      if (stored.kind !== "pinned") return stored;
      const pins = withoutSecrets(stored.pins, redact);
      // If they cannot be written now, they are with the next change.
      if (pins !== stored.pins) await update(id, (each) => each).catch(() => undefined);
      return { kind: "pinned", pins };
    },
  };
}

/** The same pins if they have no secrets. A tool that is left out when it is listed has no pin either. */
function withoutSecrets(given: ServerPins, redact: Redact): ServerPins {
  let isChanged = false;
  const clean = <Value>(
    pin: Pin<Value>,
    cleanValue: (value: Value) => Value,
    hashOf: (value: Value) => string,
  ): Pin<Value> => {
    const seen = (sight: SeenValue<Value>): SeenValue<Value> => {
      const value = cleanValue(sight.value);
      if (value === sight.value) return sight;
      isChanged = true;
      return { ...sight, value, hash: hashOf(value) };
    };
    switch (pin.kind) {
      case "pinned":
        return { ...pin, approved: seen(pin.approved) };
      case "changed":
        return { ...pin, approved: seen(pin.approved), pending: seen(pin.pending) };
      case "new":
        return { ...pin, pending: seen(pin.pending) };
    }
  };
  const leftOut = new Set<string>();
  const tools = new Map<string, Pin<PinnedTool>>();
  for (const [name, pin] of given.tools) {
    const cleanTool = (tool: PinnedTool): PinnedTool => {
      const told = toolWithoutSecrets(tool, redact);
      if (typeof told !== "string") return told;
      leftOut.add(name);
      return tool;
    };
    const cleaned = clean(pin, cleanTool, toolHash);
    if (!leftOut.has(name)) tools.set(name, cleaned);
  }
  const instructions = clean(given.instructions, redact, textHash);
  return isChanged || leftOut.size > 0 ? { ...given, instructions, tools } : given;
}
