import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { ownerName, ownerState } from "../../../src/core/state/process-owner.ts";

/** The name of a process like this one, with other parts. */
function named(parts: Record<number, number | string>): string {
  return Object.assign(ownerName().split("-"), parts).join("-");
}

const [HOST, BOOT, SPACE, PID, START] = [0, 1, 2, 3, 4];

const isLinux = process.platform === "linux";

it.each<[string, () => string, ReturnType<typeof ownerState>]>([
  // Elsewhere the system does not tell whether it is a later process with the same id.
  ["this process", () => ownerName(), isLinux ? "running" : "unknown"],
  ["one that has ended", () => named({ [PID]: spawnSync(process.execPath, ["-v"]).pid }), "gone"],
  ["one before the machine was restarted", () => named({ [BOOT]: "00000000" }), "gone"],
  ["one on another machine", () => named({ [HOST]: "00000000", [PID]: 1_999_999_999 }), "unknown"],
  [
    "one in another container",
    () => named({ [SPACE]: "00000000", [PID]: 1_999_999_999 }),
    "unknown",
  ],
  ["something else", () => "x", "unknown"],
])("tells whether an owner still runs: %s", (_, name, state) => {
  expect(ownerState(name())).toBe(state);
});

it.runIf(isLinux)("knows a later process with the same id", () => {
  expect(ownerState(named({ [START]: 1 }))).toBe("gone");
});
