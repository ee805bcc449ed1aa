// The entry for the ACP registry and its icon, held against what the registry asks for. That the agent offers an
// authentication is tested with the built command, in e2e/package.test.ts.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), "utf8")) as Record<string, never>;

const entry = read("agent.json");
const { name, version, license, bin, files } = read("package.json");

describe("agent.json", () => {
  it("starts this version of this package as an ACP agent", () => {
    expect(entry["version"]).toBe(version);
    expect(read("package-lock.json")["version"]).toBe(version);
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
    expect(JSON.stringify(entry["distribution"])).not.toContain("@latest");
    expect(entry["license"]).toBe(license);
  });

  it("is in the package, and so is its icon", () => {
    expect(files).toEqual(expect.arrayContaining(["agent.json", "icon.svg"]));
  });
});

/** What the registry finds wrong with an icon. */
function iconProblems(svg: string): string[] {
  const root = /^<svg\s[^>]*>/.exec(svg)?.[0] ?? "";
  const attribute = (key: string): string | undefined =>
    new RegExp(`\\s${key}="([^"]*)"`).exec(root)?.[1];
  const paints = svg.matchAll(/(?:fill|stroke|stop-color|color)\s*[=:]\s*["']?([^"';>]*)/g);
  const allowed = new Set(["currentColor", "none", "inherit"]);
  const found = [...paints].map(([, paint = ""]) => paint);
  return [
    ...(root === "" ? ["no <svg>"] : []),
    ...["width", "height"].filter((side) => attribute(side) !== "16"),
    ...(attribute("viewBox") === "0 0 16 16" ? [] : ["viewBox"]),
    ...found.filter((paint) => !allowed.has(paint)),
    ...(found.includes("currentColor") ? [] : ["no currentColor"]),
    ...(/<(?:style|script|image|foreignObject)\b|href=/.exec(svg) ?? []),
  ];
}

describe("icon.svg", () => {
  const icon = readFileSync(new URL("../icon.svg", import.meta.url), "utf8");

  it("is 16 by 16, and only has the colour of its surroundings", () => {
    expect(iconProblems(icon)).toEqual([]);
  });

  it.each([
    ["a colour of its own", icon.replace('fill="currentColor"', 'fill="#f00"'), ["#f00"]],
    ["a colour in a style", icon.replace("<rect", '<rect style="stroke: red"'), ["red"]],
    ["another width", icon.replace('width="16"', 'width="24"'), ["width"]],
    ["no square", icon.replace("0 0 16 16", "0 0 24 16"), ["viewBox"]],
    ["black by default", '<svg width="16" height="16" viewBox="0 0 16 16">', ["no currentColor"]],
  ])("would be refused with %s", (_, svg, problems) => {
    expect(iconProblems(svg)).toEqual(problems);
  });
});
