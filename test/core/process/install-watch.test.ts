import { describe, expect, it } from "vitest";
import { INSTALL_MS, installerOf, watchInstall } from "../../../src/core/process/install-watch.ts";
import { ManualClock } from "../../support/manual-clock.ts";

it.each([
  ["npx", "npx"],
  ["/usr/bin/npx", "npx"],
  ["uvx", "uvx"],
  ["node", undefined],
  ["my-npx", undefined],
])("%s gets a package first: %s", (command, installer) => {
  expect(installerOf(command)).toBe(installer);
});

describe("a start that installs first", () => {
  /** What happens while the child is there as `isThere` says, by seconds. */
  async function run(seconds: number, isThere: (second: number) => boolean): Promise<string[]> {
    const clock = new ManualClock();
    const began = clock.monotonic();
    const told: string[] = [];
    const at = (): number => Math.round((clock.monotonic() - began) / 1000);
    const end = watchInstall({
      pid: 1,
      clock,
      timeout: 30_000,
      onInstalling: (is) => told.push(`${is ? "installing" : "installed"} at ${at()}`),
      onLate: (whose) => told.push(`${whose} is late at ${at()}`),
      table: { descendants: async () => (isThere(at()) ? [{ pid: 2, start: "" }] : []) },
    });
    for (let second = 0; second < seconds; second += 1) {
      await clock.advance(1000);
      // The look at the table is not awaited by anybody.
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    }
    end?.();
    return told;
  }

  it.each<[what: string, isThere: (second: number) => boolean, told: string[]]>([
    ["of a server that hangs fails as ever", () => true, ["server is late at 30"]],
    [
      "waits for the installation, and then as ever for the server",
      (second) => second > 100,
      ["installing at 2", "installed at 104", "server is late at 130"],
    ],
    [
      "does not take a script of the installation for the server",
      (second) => second % 10 === 0,
      ["installing at 2", `server is late at 150`],
    ],
    [
      "waits for an installation as long as five minutes",
      () => false,
      ["installing at 2", `installer is late at ${INSTALL_MS / 1000}`],
    ],
  ])("%s", async (_, isThere, told) => {
    expect(await run(400, isThere)).toEqual(told);
  });

  it("is not watched once it is over", async () => {
    expect(await run(10, () => true)).toEqual([]);
  });
});
