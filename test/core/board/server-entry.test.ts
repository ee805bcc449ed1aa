import { expect, it, vi } from "vitest";
import {
  ServerEntry,
  type ServerEntryParts,
  type ServerKeys,
} from "../../../src/core/board/server-entry.ts";
import type { CachedTools } from "../../../src/core/catalog/catalog-cache.ts";
import type { BoardOptions } from "../../../src/core/types/board-options.ts";
import type { ServerStateKind } from "../../../src/core/types/server-state.ts";
import { definition } from "../../support/definition.ts";

const DAY = 24 * 3_600_000;
const NOW = 100 * DAY;

type Known = (Pick<CachedTools, "savedAt" | "isDoubted"> & { isElsewhere?: boolean }) | undefined;
type Reason = ReturnType<ServerEntry["startReason"]>;

const unknown: Known = undefined;
const fresh: Known = { savedAt: NOW - DAY };
/** It has failed since. */
const doubted: Known = { savedAt: NOW - 1, isDoubted: true };
/** With other capabilities. */
const elsewhere: Known = { savedAt: NOW - 1, isElsewhere: true };
const old: Known = { savedAt: NOW - DAY - 1 };
/** While the clock was ahead. */
const future: Known = { savedAt: NOW + 300 * DAY };

it.each<[BoardOptions["start"], "lazy" | "eager" | "session", Known, Reason, ServerStateKind?]>([
  [undefined, "eager", fresh, "eager"],
  ["eager", "eager", unknown, "eager"],
  ["eager", "lazy", unknown, "to-be-known"],
  ["eager", "lazy", fresh, undefined],
  ["eager", "lazy", old, "to-be-known"],
  ["eager", "lazy", future, "to-be-known"],
  ["eager", "session", unknown, "to-be-known"],
  ["eager", "session", fresh, undefined],
  ["unknown", "eager", fresh, undefined],
  ["unknown", "eager", old, "to-be-known"],
  ["unknown", "eager", unknown, "to-be-known"],
  ["unknown", "eager", doubted, undefined],
  ["unknown", "eager", elsewhere, "to-be-known"],
  ["stale", "eager", unknown, "to-be-known"],
  ["stale", "eager", fresh, undefined],
  ["stale", "eager", old, "to-be-known"],
  ["stale", "eager", future, "to-be-known"],
  ["stale", "eager", doubted, "to-be-known"],
  ["stale", "lazy", doubted, "to-be-known"],
  ["stale", "eager", elsewhere, undefined],
  ["none", "eager", unknown, undefined],
  ["eager", "eager", unknown, "eager", "failed"],
  ["eager", "lazy", unknown, undefined, "failed"],
  ["unknown", "eager", unknown, undefined, "failed"],
  ["unknown", "eager", old, undefined, "failed"],
])("start %s, %s server, %j: %s", (start, kind, known, reason, state = "idle") => {
  const scope = kind === "session" ? { scope: kind } : {};
  const entryOf = (enabled: boolean): ServerEntry =>
    new ServerEntry({
      supervisor: {
        definition: definition({ enabled, lazy: kind === "lazy", ...scope }),
        state: { kind: state },
      },
      cached: known,
      isListedElsewhere: known?.isElsewhere ?? false,
    } as ServerEntryParts);
  expect(entryOf(true).startReason(start, NOW)).toBe(reason);
  expect(entryOf(false).startReason(start, NOW)).toBeUndefined();
});

it("makes its keys when the first of them is asked for, and only once", () => {
  const made = { hash: "h", pin: "p", approval: "a" };
  const keys = vi.fn<() => ServerKeys>(() => made);
  const entry = new ServerEntry({
    supervisor: { definition: definition({ enabled: false }), state: { kind: "disabled" } },
    keys,
  } as unknown as ServerEntryParts);
  expect(entry.startReason("eager", NOW)).toBeUndefined();
  expect(keys).not.toHaveBeenCalled();
  expect([entry.keys.pin, entry.keys.hash]).toEqual(["p", "h"]);
  expect(keys).toHaveBeenCalledTimes(1);
});
