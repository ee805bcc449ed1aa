import { describe, expect, it } from "vitest";
import { ResourceFilter } from "../../../../src/core/board/content/resource-filter.ts";

describe("a resource filter", () => {
  it.each<[string[], string, boolean]>([
    [[], "file:///a", true],
    [["docs"], "file:///docs/a", true],
    [["docs"], "file:///other/a", false],
    [["file:///a"], "file:///abc", true],
    [["file:///docs/*"], "file:///docs/a", true],
    [["docs/*"], "file:///docs/a", false],
    [["*docs*"], "file:///docs/a", true],
    [["x", "*/a"], "file:///docs/a", true],
    [["a?b=[1]"], "x:/a?b=[1]", true],
    [["a?b"], "x:/acb", false],
  ])("%j, of %s: %s", (entries, uri, expected) => {
    expect(new ResourceFilter(entries).allows(uri)).toBe(expected);
  });

  it.each<[string[], string[]]>([
    [["docs", "x:*"], ["x:*"]],
    [["dcos"], ["dcos"]],
    [["docs", "*a"], []],
  ])("%j: %j match none of the resources", (entries, expected) => {
    const resources = [{ uri: "file:///docs/a", name: "a" }];
    expect(new ResourceFilter(entries).unmatched({ resources, templates: [] })).toEqual(expected);
  });

  it.each<[string, boolean]>([
    ["db://tables/*", true],
    ["db://*", true],
    ["*/users", true],
    ["users", true],
    ["x:*", false],
  ])("%s could match what a template gives: %s", (entry, expected) => {
    const templates = [{ uriTemplate: "db://tables/{name}", name: "t" }];
    const unmatched = new ResourceFilter([entry]).unmatched({ resources: [], templates });
    expect(unmatched).toEqual(expected ? [] : [entry]);
  });
});

it.each([
  ["file:///docs/a.md", true],
  ["file:///docs/a..b/c", true],
  ["file:///docs/../etc/passwd", false],
  ["file:///docs/%2e%2E/etc/passwd", false],
  ["file:///docs/x%2f..%2fy", false],
  ["file:///docs/..", false],
  ["file:///docs/.\t./etc/passwd", false],
  ["file:///docs/\n../etc/passwd", false],
  ["file:///docs/%252e%252e/etc/passwd", false],
])("does not let a URI lead out of what an entry names: %s %s", (uri, isAllowed) => {
  expect(new ResourceFilter(["file:///docs/*"]).allows(uri)).toBe(isAllowed);
});
