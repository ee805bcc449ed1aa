import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { packageVersion } from "../../src/util/version.ts";

it("gives the version in package.json", () => {
  const manifest = new URL("../../package.json", import.meta.url);
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
  expect(packageVersion()).toBe(version);
  expect(version).toMatch(/^\d+\.\d+\.\d+/);
});
