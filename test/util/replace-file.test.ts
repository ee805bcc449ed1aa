import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { replaceFile } from "../../src/util/replace-file.ts";
import { ManualClock } from "../support/manual-clock.ts";

const failure = (code: string): Error => Object.assign(new Error(code), { code });

describe("putting a file in the place of another", () => {
  it.each<[string, { platform: NodeJS.Platform; code: string; fails: number }, string, number]>([
    ["free", { platform: "win32", code: "EPERM", fails: 0 }, "done", 1],
    ["open for a moment", { platform: "win32", code: "EPERM", fails: 3 }, "done", 4],
    ["scanned for a moment", { platform: "win32", code: "EBUSY", fails: 3 }, "done", 4],
    ["open for good", { platform: "win32", code: "EPERM", fails: Infinity }, "EPERM", 501],
    ["gone", { platform: "win32", code: "ENOENT", fails: Infinity }, "ENOENT", 1],
    ["not yours", { platform: "linux", code: "EPERM", fails: Infinity }, "EPERM", 1],
  ])("that is %s", async (_, { platform, code, fails }, expected, tries) => {
    const clock = new ManualClock();
    const tried: string[] = [];
    const rename = async (from: string, to: string): Promise<void> => {
      tried.push(`${from} ${to}`);
      if (tried.length <= fails) throw failure(code);
    };
    const replaced = replaceFile("a.tmp", "a", { clock, platform, rename }).then(
      () => "done",
      (error: { code: string }) => error.code,
    );
    await clock.advance(10_000);
    expect(await replaced).toBe(expected);
    expect(tried).toEqual(Array.from({ length: tries }, () => "a.tmp a"));
  });

  it("is left to it by all that cannot do without", () => {
    const src = fileURLToPath(new URL("../../src", import.meta.url));
    const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((name) =>
      /\.c?ts$/.test(name),
    );
    const renaming = files.filter((name) =>
      /import \{[^}]*\brename(Sync)?\b[^}]*\} from "node:fs|\bfs\.rename/.test(
        readFileSync(join(src, name), "utf8"),
      ),
    );
    expect(renaming.toSorted()).toEqual([
      // Compiles the code again the next time.
      "bin.cts",
      // Gives up the old lines.
      "cli/background/log.ts",
      // Leaves the record to the next command.
      "core/state/running-gateway.ts",
      "util/replace-file.ts",
    ]);
  });
});
