import { describe, expect, it } from "vitest";
import { Catalog, type CatalogServer } from "../../../src/core/catalog/catalog.ts";
import { DEFAULT_TOOL_NAMES } from "../../../src/core/config/schema/file-schema.ts";
import type { ToolDefinition } from "../../../src/core/types/tool.ts";

function catalogWith(
  template: string,
  servers: readonly CatalogServer[],
  reserved?: readonly string[],
): Catalog {
  const catalog = new Catalog({ template, maxLength: 64 }, reserved);
  for (const each of servers) catalog.add(each);
  return catalog;
}

function tool(name: string, description = "does it"): ToolDefinition {
  return { name, description, inputSchema: { type: "object" } };
}

function tools(...given: string[]): ToolDefinition[] {
  return given.map((name) => tool(name));
}

function catalogOf(...servers: string[]): Catalog {
  return catalogWith(
    DEFAULT_TOOL_NAMES,
    servers.map((name) => ({ name })),
  );
}

function names(catalog: Catalog, ...servers: string[]): string[] {
  return servers.flatMap((server) => catalog.entriesOf(server).map(({ publicName }) => publicName));
}

const NO_CHANGE = { added: [], removed: [], changed: [], diagnostics: [] };

describe("the order of tools", () => {
  it("is that in which the server listed them", () => {
    const catalog = catalogOf("a", "b");
    catalog.set("a", tools("y", "x"));
    catalog.set("b", tools("w"));
    expect(names(catalog, "a")).toEqual(["mcp__a__y", "mcp__a__x"]);
    expect(names(catalog, "b")).toEqual(["mcp__b__w"]);
  });

  it("stays when a server lists its tools in another order; new tools come last", () => {
    const catalog = catalogOf("a");
    catalog.set("a", tools("one", "two", "three"));
    catalog.set("a", tools("four", "three", "one"));
    expect(names(catalog, "a")).toEqual(["mcp__a__one", "mcp__a__three", "mcp__a__four"]);
  });
});

describe("a change", () => {
  it("names added, removed and changed tools", () => {
    const catalog = catalogOf("a");
    expect(catalog.set("a", [tool("same"), tool("other"), tool("gone")])).toEqual({
      ...NO_CHANGE,
      added: ["mcp__a__same", "mcp__a__other", "mcp__a__gone"],
    });
    expect(catalog.set("a", [tool("same"), tool("other", "differently"), tool("new")])).toEqual({
      ...NO_CHANGE,
      added: ["mcp__a__new"],
      removed: ["mcp__a__gone"],
      changed: ["mcp__a__other"],
    });
  });

  it("keeps only the entries that have not changed", () => {
    const catalog = catalogOf("a");
    catalog.set("a", [tool("same"), tool("other")]);
    const [same, other] = catalog.entriesOf("a");
    expect(catalog.set("a", [tool("same"), tool("other", "differently")]).changed).toHaveLength(1);
    expect(catalog.entriesOf("a")[0]).toBe(same);
    expect(catalog.entriesOf("a")[1]).not.toBe(other);
    expect(catalog.find("mcp__a__other")?.tool.description).toBe("differently");
  });

  it("is empty if a server lists the same tools again", () => {
    const catalog = catalogOf("a", "b");
    catalog.set("a", tools("one", "two"));
    expect(catalog.set("a", tools("two", "one"))).toEqual(NO_CHANGE);
  });

  it.each<[string, Partial<ToolDefinition>]>([
    ["schema", { inputSchema: { type: "object", required: ["q"] } }],
    ["output schema", { outputSchema: {} }],
    ["annotations", { annotations: { readOnlyHint: true } }],
    ["title", { title: "One" }],
  ])("can be another %s", (_, difference) => {
    const catalog = catalogOf("a");
    catalog.set("a", [tool("one")]);
    const change = catalog.set("a", [{ ...tool("one"), ...difference }]);
    expect(change.changed).toEqual(["mcp__a__one"]);
  });

  it("to an empty list removes only the tools of that server", () => {
    const catalog = catalogOf("a", "b");
    catalog.set("a", tools("one", "two"));
    catalog.set("b", tools("one"));
    expect(catalog.set("a", []).removed).toEqual(["mcp__a__one", "mcp__a__two"]);
    expect(names(catalog, "a", "b")).toEqual(["mcp__b__one"]);
    expect(catalog.find("a/one")).toBeUndefined();
  });

  it("of a server that is not in the catalog is empty", () => {
    const catalog = catalogOf("a");
    expect(catalog.set("elsewhere", tools("one"))).toEqual(NO_CHANGE);
    expect(catalog.entriesOf("elsewhere")).toEqual([]);
  });

  it("takes the last of several tools with the same name", () => {
    const catalog = catalogOf("a");
    catalog.set("a", [tool("one", "first"), tool("two"), tool("one", "last")]);
    expect(catalog.entriesOf("a").map(({ tool: each }) => each.description)).toEqual([
      "last",
      "does it",
    ]);
  });
});

describe("finding", () => {
  it("works by public name and by server/tool", () => {
    const catalog = catalogOf("docs", "web");
    catalog.set("docs", tools("files.read"));
    catalog.set("web", tools("files.read"));
    const entry = catalog.find("web/files.read");
    expect(entry).toMatchObject({ server: "web", tool: { name: "files.read" } });
    expect(catalog.find(entry?.publicName ?? "")).toBe(entry);
    expect(catalog.find("docs/files.read")).not.toBe(entry);
  });

  it.each(["files_read", "docs", "mcp__docs__files_read", "/", "", "__proto__", "constructor"])(
    "finds nothing under %j",
    (name) => {
      const catalog = catalogOf("docs");
      catalog.set("docs", tools("files.read"));
      expect(catalog.find(name)).toBeUndefined();
    },
  );

  it("works for tools with strange names", () => {
    const catalog = catalogOf("docs");
    catalog.set("docs", tools("a/b", "__proto__", "mcp__docs__other"));
    expect(catalog.find("docs/a/b")?.tool.name).toBe("a/b");
    expect(catalog.find("docs/__proto__")?.tool.name).toBe("__proto__");
    expect(catalog.find("mcp__docs__other")).toBeUndefined();
  });

  it("fails when the tool is removed", () => {
    const catalog = catalogOf("docs");
    catalog.set("docs", tools("read"));
    catalog.set("docs", []);
    expect(catalog.find("docs/read")).toBeUndefined();
    expect(catalog.find("mcp__docs__read")).toBeUndefined();
  });
});

describe("the entries", () => {
  it("are the same array until the server's tools are set again", () => {
    const catalog = catalogOf("a", "b");
    catalog.set("a", tools("one", "two"));
    const before = catalog.entriesOf("a");
    catalog.set("b", tools("three"));
    expect(catalog.entriesOf("a")).toBe(before);
    catalog.set("a", tools("one"));
    expect(catalog.entriesOf("a")).not.toBe(before);
    expect(before).toHaveLength(2);
  });
});

describe("a public name", () => {
  it("does not depend on other servers and tools", () => {
    const alone = catalogOf("docs");
    alone.set("docs", tools("read", "files.read"));
    const servers = ["docs_", "do", "DOCS", "docs"];
    const crowded = catalogOf(...servers);
    for (const server of servers) {
      crowded.set(server, tools("files_read", "files.read", "read", "_read", "cs__read"));
    }
    for (const { publicName, tool: each } of alone.entriesOf("docs")) {
      expect(crowded.find(publicName)).toMatchObject({ server: "docs", tool: { name: each.name } });
    }
    expect(names(crowded, ...servers)).toHaveLength(20);
  });

  it("has the prefix instead of the server's name, if there is one", () => {
    const catalog = catalogWith("{server}__{tool}", [{ name: "filesystem", toolPrefix: "fs" }]);
    catalog.set("filesystem", tools("read"));
    expect(names(catalog, "filesystem")).toEqual(["fs__read"]);
    expect(catalog.find("filesystem/read")?.server).toBe("filesystem");
    expect(catalog.find("fs/read")).toBeUndefined();
  });
});

describe("a name that is taken", () => {
  const shared = [
    { name: "one", toolPrefix: "p" },
    { name: "two", toolPrefix: "p" },
  ];

  it("stays with the first tool; the other is left out, with a diagnostic", () => {
    const catalog = catalogWith(DEFAULT_TOOL_NAMES, shared);
    catalog.set("one", tools("read"));
    const change = catalog.set("two", tools("read", "write"));
    expect(change).toEqual({
      ...NO_CHANGE,
      added: ["mcp__p__write"],
      diagnostics: [
        {
          server: "two",
          subject: "read",
          message: "tool left out: its public name mcp__p__read is taken",
          kind: "left-out",
        },
      ],
    });
    expect(catalog.find("mcp__p__read")?.server).toBe("one");
    expect(catalog.find("two/read")).toBeUndefined();
    expect(catalog.entriesOf("two")).toHaveLength(1);
  });

  it("causes no change when it is listed again, and the tool is added once the name is free", () => {
    const catalog = catalogWith(DEFAULT_TOOL_NAMES, shared);
    catalog.set("one", tools("read"));
    catalog.set("two", tools("read"));
    expect(catalog.set("two", tools("read"))).toMatchObject({
      added: [],
      removed: [],
      changed: [],
    });
    catalog.set("one", []);
    expect(catalog.set("two", tools("read")).added).toEqual(["mcp__p__read"]);
  });

  it("can be taken by a native tool", () => {
    const catalog = catalogWith("{server}_{tool}", [{ name: "docs" }], ["docs_read"]);
    const change = catalog.set("docs", tools("read", "write"));
    expect(change.added).toEqual(["docs_write"]);
    expect(change.diagnostics).toMatchObject([{ subject: "read" }]);
  });

  it("is reported in one line, whatever the tool is called", () => {
    const catalog = catalogWith(DEFAULT_TOOL_NAMES, shared);
    const odd = `\u001b[31m${"x".repeat(500)}`;
    catalog.set("one", tools(odd));
    const { diagnostics } = catalog.set("two", tools(odd));
    expect(diagnostics[0]?.subject).toBe(`${"x".repeat(79)}…`);
  });
});

describe("a server that comes later", () => {
  it("has its tools after the others, until it is removed", () => {
    const catalog = catalogOf("one");
    catalog.set("one", tools("read"));
    catalog.add({ name: "two", toolPrefix: "b" });
    catalog.set("two", tools("read"));
    expect(names(catalog, "one", "two")).toEqual(["mcp__one__read", "mcp__b__read"]);
    catalog.add({ name: "two", toolPrefix: "other" });
    expect(names(catalog, "two")).toEqual(["mcp__b__read"]);
    expect(catalog.remove("two")).toEqual(["mcp__b__read"]);
    expect(catalog.entriesOf("two")).toEqual([]);
    expect(catalog.find("two/read")).toBeUndefined();
    expect(names(catalog, "one", "two")).toEqual(["mcp__one__read"]);
  });
});
