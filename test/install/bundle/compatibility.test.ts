import { describe, expect, it } from "vitest";
import {
  isInRange,
  requirePlatform,
  runtimeNote,
} from "../../../src/install/bundle/compatibility.ts";
import { readManifest } from "../../../src/install/bundle/manifest.ts";
import { manifest } from "../../fixtures/bundles/zip.ts";

describe("a range of versions", () => {
  const CASES: [range: string, inside: string[], outside: string[]][] = [
    [">=18", ["18.0.0", "v20.1.2", "100.0.0"], ["17.9.9"]],
    [">= 16.0.0", ["16.0.0"], ["15.9.9"]],
    [">18", ["19.0.0"], ["18.9.9"]],
    [">18.1.0", ["18.1.1"], ["18.1.0"]],
    ["<20", ["19.9.9"], ["20.0.0"]],
    ["<=20", ["20.9.9"], ["21.0.0"]],
    ["^20.1", ["20.1.0", "20.9.0"], ["20.0.9", "21.0.0"]],
    ["^0.2.3", ["0.2.9"], ["0.3.0"]],
    ["^0", ["0.9.0"], ["1.0.0"]],
    ["~3.10.2", ["3.10.9"], ["3.11.0", "3.10.1"]],
    ["~=3.10", ["3.12.0"], ["4.0.0", "3.9.0"]],
    ["~=3.10.1", ["3.10.4"], ["3.11.0"]],
    ["20", ["20.5.0"], ["21.0.0"]],
    ["20.x", ["20.5.0"], ["21.0.0"]],
    ["3.12.*", ["3.12.7"], ["3.13.0"]],
    ["=1.2.3", ["1.2.3"], ["1.2.4"]],
    ["==3.12", ["3.12.1"], ["3.13.0"]],
    [">=3.8,<4.0", ["3.8.0", "3.99.0"], ["4.0.0"]],
    [">=3.8, !=3.9", ["3.8.1", "3.10.0"], ["3.9.5"]],
    ["^18 || >=20", ["18.5.0", "22.0.0"], ["19.0.0"]],
    ["*", ["1.0.0"], []],
    ["", ["1.0.0"], []],
  ];
  for (const [range, inside, outside] of CASES) {
    it(`"${range}"`, () => {
      expect(inside.map((each) => isInRange(each, range))).toEqual(inside.map(() => true));
      expect(outside.map((each) => isInRange(each, range))).toEqual(outside.map(() => false));
    });
  }

  it("that cannot be read is neither", () => {
    expect(isInRange("20.0.0", "lts")).toBeUndefined();
    expect(isInRange("20.0.0", "1.0 - 2.0")).toBeUndefined();
    expect(isInRange("20.0.0", "lts || 20")).toBe(true);
    expect(isInRange("unknown", ">=1")).toBeUndefined();
  });
});

it("a bundle for other systems is refused", () => {
  const of = (platforms?: string[]) =>
    readManifest(Buffer.from(JSON.stringify(manifest({ compatibility: { platforms } }))));
  expect(() => requirePlatform(of(["darwin", "win32"]), "linux")).toThrow(
    "it is for macOS and Windows, and this machine runs Linux",
  );
  expect(() => requirePlatform(of(["linux"]), "linux")).not.toThrow();
  expect(() => requirePlatform(of([]), "linux")).not.toThrow();
  expect(() => requirePlatform(of(), "freebsd")).not.toThrow();
});

it("what runs a server is compared with what it needs", () => {
  expect(runtimeNote("Node", ">=18", "20.1.0")).toBeUndefined();
  expect(runtimeNote("Node", undefined, "20.1.0")).toBeUndefined();
  expect(runtimeNote("Node", ">=22", "20.1.0")).toBe(
    "warning: it needs Node >=22, and you have 20.1.0",
  );
  expect(runtimeNote("Python", "latest", "3.12.1")).toBe(
    "it needs Python latest, and you have 3.12.1",
  );
  expect(runtimeNote("Python", ">=3.8", undefined)).toBe(
    "it needs Python >=3.8, and which version you have is not known",
  );
});
