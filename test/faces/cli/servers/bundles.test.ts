import { expect, it } from "vitest";
import { bundleSource, isBundle } from "../../../../src/faces/cli/servers/bundles.ts";

for (const [word, expected] of [
  ["x.mcpb", true],
  ["./a b/X.MCPB", true],
  ["old.dxt", true],
  ["https://example.com/x.mcpb?download=1", true],
  ["https://example.com/mcp", false],
  ["io.github.owner/name", false],
  ["mcpb", false],
] as const) {
  it(`${word} is ${expected ? "" : "not "}taken for a bundle`, () => {
    expect(isBundle(word)).toBe(expected);
  });
}

it("a bundle is a URL or a path from where you are", () => {
  expect(bundleSource("https://example.com/x.mcpb", "/w")).toEqual({
    kind: "url",
    url: "https://example.com/x.mcpb",
  });
  expect(bundleSource("a/x.mcpb", "/w")).toEqual({ kind: "file", path: "/w/a/x.mcpb" });
});
