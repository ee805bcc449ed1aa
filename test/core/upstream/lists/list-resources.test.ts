import { describe, expect, it } from "vitest";
import { MAX_PAGES } from "../../../../src/core/upstream/lists/list-pages.ts";
import {
  MAX_RESOURCES,
  MAX_URI,
  RESOURCE_LIST,
  TEMPLATE_LIST,
} from "../../../../src/core/upstream/lists/list-resources.ts";
import { listFrom } from "./listing.ts";

function list(...resources: unknown[]) {
  return listFrom(RESOURCE_LIST, async () => ({ resources }));
}

describe("a resource", () => {
  it("keeps what the server says about it", async () => {
    const resource = {
      uri: "file:///a.md",
      name: "a",
      title: "A",
      description: "The first.",
      mimeType: "text/markdown",
      size: 12,
      annotations: { audience: ["assistant"], priority: 1 },
      _meta: { x: 1 },
    };
    const { items, diagnostics } = await list({ ...resource, icons: [], other: 1 });
    expect(items).toEqual([resource]);
    expect(diagnostics).toEqual([]);
  });

  it.each([
    [{ uri: "a:b" }, { uri: "a:b", name: "a:b" }],
    [
      { uri: "a:b", name: "" },
      { uri: "a:b", name: "a:b" },
    ],
    [
      { uri: "a:b", name: "n", title: 1, description: null, mimeType: {}, size: "1", _meta: [] },
      { uri: "a:b", name: "n" },
    ],
    [
      { uri: "a:b", name: "n", size: -1 },
      { uri: "a:b", name: "n" },
    ],
    [
      { uri: "a:b", name: "n", size: Infinity },
      { uri: "a:b", name: "n" },
    ],
  ])("is listed without its malformed parts: %j", async (given, expected) => {
    expect((await list(given)).items).toEqual([expected]);
  });

  it.each([
    [null, "it is not an object"],
    ["a:b", "it is not an object"],
    [{ name: "x" }, "it has no URI"],
    [{ uri: 5 }, "it has no URI"],
    [{ uri: "" }, "it has no URI"],
    [{ uri: "a:\nb" }, "its URI has control characters"],
    [{ uri: "a:\u001b[2J" }, "its URI has control characters"],
    [{ uri: "a:\u2028" }, "its URI has control characters"],
    [{ uri: `a:${"x".repeat(MAX_URI)}` }, `its URI is longer than ${MAX_URI} characters`],
    [{ uri: "a:b", description: "x".repeat(70_000) }, "its definition has more than 64 KiB"],
    [
      { uri: "a:b", annotations: JSON.parse(`${'{"a":'.repeat(99)}1${"}".repeat(99)}`) },
      '"annotations" has too many levels',
    ],
  ])("is left out, and the others stay (%#)", async (given, fault) => {
    const { items, diagnostics } = await list({ uri: "ok:1" }, given, { uri: "ok:2" });
    expect(items.map(({ uri }) => uri)).toEqual(["ok:1", "ok:2"]);
    expect(diagnostics).toEqual([
      expect.objectContaining({ server: "docs", message: `resource left out: ${fault}` }),
    ]);
  });

  it("is listed without invisible characters, except in its URI", async () => {
    const { items, diagnostics } = await list({
      uri: "a:\u{e0041}",
      name: "n\u202e\nn",
      title: "t\u{e0041}",
      description: "d\u200b",
      mimeType: "text/plain\u001b[2J",
    });
    expect(items).toEqual([
      { uri: "a:\u{e0041}", name: "n n", title: "t", description: "d", mimeType: "text/plain" },
    ]);
    expect(diagnostics.map(({ message }) => message)).toEqual([
      "invisible characters were removed from its name, title and description",
      "invisible characters are in its URI, where they had to be left",
    ]);
  });

  it("is listed without secrets, except in its URI", async () => {
    const redact = (text: string): string => text.replaceAll("hunter2", "[REDACTED]");
    const resource = { uri: "a:hunter2", name: "hunter2", description: "it is hunter2" };
    const { items } = await listFrom(
      RESOURCE_LIST,
      async () => ({ resources: [resource] }),
      redact,
    );
    expect(items).toEqual([
      { uri: "a:hunter2", name: "[REDACTED]", description: "it is [REDACTED]" },
    ]);
  });

  it("is listed once per URI: the last one, at the place of the first", async () => {
    const { items, diagnostics } = await list(
      { uri: "a:1", name: "old" },
      { uri: "a:2" },
      { uri: "a:1", name: "new" },
    );
    expect(items.map(({ name }) => name)).toEqual(["new", "a:2"]);
    expect(diagnostics).toEqual([
      { server: "docs", subject: "a:1", message: "the uri is listed twice; the last one counts" },
    ]);
  });
});

describe("the list", () => {
  it("is cut if it is too long", async () => {
    const resources = Array.from({ length: 10_000 }, (_, at) => ({ uri: `a:${at}` }));
    const { items, diagnostics } = await list(...resources);
    expect(items).toHaveLength(MAX_RESOURCES);
    expect(diagnostics).toEqual([
      { server: "docs", message: `the resource list is cut at ${MAX_RESOURCES} resources` },
    ]);
  });

  it("is cut if its pages do not end", async () => {
    let page = 0;
    const request = async () => {
      page += 1;
      return { resources: [{ uri: `a:${page}` }], nextCursor: String(page) };
    };
    const { items, diagnostics } = await listFrom(RESOURCE_LIST, request);
    expect(items).toHaveLength(MAX_PAGES);
    expect(diagnostics).toHaveLength(1);
  });

  it.each([null, {}, { resources: {} }])("must be a list: %j", async (answer) => {
    await expect(listFrom(RESOURCE_LIST, async () => answer)).rejects.toMatchObject({
      code: "PROTOCOL",
      message: "the server's answer to resources/list does not hold a list of resources",
    });
  });
});

describe("a template", () => {
  it("is listed like a resource", async () => {
    const resourceTemplates = [
      { uriTemplate: "a:{x}", name: "n", title: "t", mimeType: "text/plain", annotations: {} },
      { uriTemplate: "b:{x}" },
      { uri: "c" },
      7,
      { uriTemplate: "d:{x}", _meta: JSON.parse(`${'{"a":'.repeat(99)}1${"}".repeat(99)}`) },
    ];
    const { items, diagnostics } = await listFrom(TEMPLATE_LIST, async () => ({
      resourceTemplates,
    }));
    expect(items).toEqual([resourceTemplates[0], { uriTemplate: "b:{x}", name: "b:{x}" }]);
    expect(diagnostics.map(({ message }) => message)).toEqual([
      "resource template left out: it has no URI template",
      "resource template left out: it is not an object",
      'resource template left out: "_meta" has too many levels',
    ]);
  });
});
