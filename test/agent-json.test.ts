// The entry for the ACP registry, held against what the registry's schema asks for.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), "utf8")) as Record<string, never>;

const entry = read("agent.json");
const { name, version, license, bin, files } = read("package.json");

describe("agent.json", () => {
  it("starts this version of this package as an ACP agent", () => {
    expect(entry["version"]).toBe(version);
    expect(entry["distribution"]).toEqual({
      npx: { package: `${name}@${version}`, args: ["acp"] },
    });
    // `npx <package>` runs the program of the package's name.
    expect(Object.keys(bin ?? {})).toEqual([name]);
  });

  it("has what the registry asks for, in its form", () => {
    expect(Object.keys(entry).sort()).toEqual([
      "description",
      "distribution",
      "id",
      "license",
      "name",
      "version",
    ]);
    expect(entry["id"]).toMatch(/^[a-z][a-z0-9-]*$/);
    expect(entry["version"]).toMatch(/^\d+\.\d+\.\d+$/);
    for (const key of ["name", "description"]) expect(entry[key]).toMatch(/\S/);
    expect(entry["license"]).toBe(license);
  });

  it("is in the package", () => {
    expect(files).toContain("agent.json");
  });
});
