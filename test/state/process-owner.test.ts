import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { isOwnerGone, ownerName } from "../../src/state/process-owner.ts";

/** The name of a process like this one, with other parts. */
function named(parts: Record<number, number | string>): string {
  return Object.assign(ownerName().split("-"), parts).join("-");
}

const [HOST, BOOT, SPACE, PID, START] = [0, 1, 2, 3, 4];

it.each<[string, () => string, boolean]>([
  ["this process", () => ownerName(), false],
  ["one that has ended", () => named({ [PID]: spawnSync(process.execPath, ["-v"]).pid }), true],
  ["one before the machine was restarted", () => named({ [BOOT]: "00000000" }), true],
  ["one on another machine", () => named({ [HOST]: "00000000", [PID]: 1_999_999_999 }), false],
  ["one in another container", () => named({ [SPACE]: "00000000", [PID]: 1_999_999_999 }), false],
  ["something else", () => "x", false],
])("tells whether an owner is gone: %s", (_, name, isGone) => {
  expect(isOwnerGone(name())).toBe(isGone);
});

it.runIf(process.platform === "linux")("knows a later process with the same id", () => {
  expect(isOwnerGone(named({ [START]: 1 }))).toBe(true);
});
