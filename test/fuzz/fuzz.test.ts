// Inputs that were once read wrongly, and the known ones that others are made of: each is read as its target says.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openTarget, TARGET_NAMES } from "./targets.ts";

const CASES = new URL("./cases/", import.meta.url);

describe.each(TARGET_NAMES)("%s", (name) => {
  it("reads its seeds, and what it once read wrongly", async () => {
    const target = await openTarget(name);
    try {
      const seeds = (await target.seeds()).map((seed, at) => ({
        what: `seed ${at}`,
        input: Buffer.from(seed),
      }));
      const found = casesOf(name).map((file) => ({
        what: `case ${file}`,
        input: readFileSync(new URL(`${name}/${file}`, CASES)),
      }));
      const faults: string[] = [];
      for (const { what, input } of [...seeds, ...found]) {
        try {
          await target.run(input);
        } catch (error) {
          faults.push(
            `${what}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
          );
        }
      }
      expect(faults).toEqual([]);
    } finally {
      await target.close?.();
    }
  });
});

it("every case belongs to a target", () => {
  expect(TARGET_NAMES).toEqual(expect.arrayContaining(readdirSync(CASES)));
});

function casesOf(name: string): string[] {
  const folder = new URL(`${name}/`, CASES);
  return existsSync(folder) ? readdirSync(folder).toSorted() : [];
}
