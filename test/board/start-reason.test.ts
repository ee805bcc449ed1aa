import { expect, it } from "vitest";
import type { Slot } from "../../src/board/slot.ts";
import { startReason } from "../../src/board/start-reason.ts";
import type { BoardOptions } from "../../src/model/board-options.ts";
import { definition } from "../support/definition.ts";

const DAY = 24 * 3_600_000;
const NOW = 100 * DAY;

type Known = Pick<Slot, "knowledge" | "cachedAt">;

const unknown: Known = { knowledge: "none", cachedAt: undefined };
const fresh: Known = { knowledge: "cached", cachedAt: NOW - DAY };
const old: Known = { knowledge: "cached", cachedAt: NOW - DAY - 1 };

it.each<
  [BoardOptions["start"], "lazy" | "eager" | "session", Known, ReturnType<typeof startReason>]
>([
  [undefined, "eager", fresh, "eager"],
  ["eager", "eager", unknown, "eager"],
  ["eager", "lazy", unknown, "to-be-known"],
  ["eager", "lazy", fresh, undefined],
  ["eager", "lazy", old, "to-be-known"],
  ["eager", "session", unknown, "to-be-known"],
  ["eager", "session", fresh, undefined],
  ["unknown", "eager", fresh, undefined],
  ["unknown", "eager", old, "to-be-known"],
  ["unknown", "eager", unknown, "to-be-known"],
  ["none", "eager", unknown, undefined],
])("start %s, %s server, %j: %s", (start, kind, known, reason) => {
  const scope = kind === "session" ? { scope: kind } : {};
  const slot = { definition: definition({ lazy: kind === "lazy", ...scope }), ...known } as Slot;
  expect(startReason(slot, start, NOW)).toBe(reason);
  const disabled = { ...slot, definition: { ...slot.definition, enabled: false } };
  expect(startReason(disabled, start, NOW)).toBeUndefined();
});
