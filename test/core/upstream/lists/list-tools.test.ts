import { describe, expect, it } from "vitest";
import { PlugboardError } from "../../../../src/core/types/errors.ts";
import { MAX_PAGES } from "../../../../src/core/upstream/lists/list-pages.ts";
import { MAX_TOOLS, TOOL_LIST } from "../../../../src/core/upstream/lists/list-tools.ts";
import { listFrom } from "./listing.ts";

async function listTools(
  request: (cursor: unknown) => Promise<unknown>,
  redact?: (text: string) => string,
) {
  const { items, diagnostics } = await listFrom(TOOL_LIST, request, redact);
  return { tools: items, diagnostics };
}

const inputSchema = { type: "object" };

function tool(name: string, more: object = {}): object {
  return { name, inputSchema, ...more };
}

/** Lists from a server that has these pages, each under the cursor of its number. */
async function listPages(pages: unknown[][]) {
  const cursors: unknown[] = [];
  const listed = await listTools(async (cursor) => {
    cursors.push(cursor);
    const page = Number(cursor ?? 0);
    return { tools: pages[page], ...(page + 1 < pages.length && { nextCursor: String(page + 1) }) };
  });
  return { ...listed, names: listed.tools.map(({ name }) => name), cursors };
}

async function list(...items: unknown[]) {
  return listPages([items]);
}

it.each(["resource", "prompt"])(
  "a tool that is named like a %s is left out: rules and pins could not tell them apart",
  async (kind) => {
    const { names, diagnostics } = await list(tool(`${kind}:x`), tool(kind), tool(`${kind}_x`));
    expect(names).toEqual([kind, `${kind}_x`]);
    expect(diagnostics).toMatchObject([
      {
        subject: `${kind}:x`,
        message: `tool left out: its name begins with "${kind}:" and would name a ${kind}`,
      },
    ]);
  },
);

it("a name is redacted before its lines are joined and it is cut", async () => {
  const redact = (text: string): string => text.replace(/pass\n?word!/g, "[R]");
  const item = { name: "read pass\nword!" };
  const { diagnostics } = await listTools(async () => ({ tools: [item] }), redact);
  expect(diagnostics).toMatchObject([{ subject: "read [R]" }]);
});

describe("the pages", () => {
  it("are read to the last, each with the cursor of the one before", async () => {
    const { names, cursors, diagnostics } = await listPages([[tool("a")], [], [tool("b")]]);
    expect(names).toEqual(["a", "b"]);
    expect(cursors).toEqual([undefined, "1", "2"]);
    expect(diagnostics).toEqual([]);
  });

  it.each([undefined, null, "", 7, {}])("end at a cursor that is %j", async (nextCursor) => {
    let pages = 0;
    const { tools } = await listTools(async () => {
      pages += 1;
      return { tools: [tool("a")], nextCursor };
    });
    expect(pages).toBe(1);
    expect(tools).toHaveLength(1);
  });

  it.each([
    ["the same cursor", ["x", "x"], 2],
    ["an earlier one", ["x", "y", "x"], 3],
  ])("are cut where the server gives %s again", async (_, cursors, pages) => {
    let page = 0;
    const { tools, diagnostics } = await listTools(async () => {
      page += 1;
      return { tools: [tool(`tool-${page}`)], nextCursor: cursors[page - 1] };
    });
    expect(page).toBe(pages);
    expect(tools).toHaveLength(pages);
    expect(diagnostics).toEqual([
      { server: "docs", message: "the tool list repeats a page; it is cut there" },
    ]);
  });

  it("are cut if they do not end", async () => {
    let page = 0;
    const { tools, diagnostics } = await listTools(async () => {
      page += 1;
      return { tools: [tool(`tool-${page}`)], nextCursor: String(page) };
    });
    expect(page).toBe(MAX_PAGES);
    expect(tools).toHaveLength(MAX_PAGES);
    expect(diagnostics).toEqual([{ server: "docs", message: "the tool list is cut at 64 pages" }]);
  });

  it.each([
    ["no object", "tools"],
    ["no list", {}],
    ["an object for a list", { tools: {} }],
    ["nothing", undefined],
  ])("must each be a list: %s", async (_, result) => {
    const listing = listTools(async () => result);
    await expect(listing).rejects.toMatchObject({
      code: "PROTOCOL",
      message: "the server's answer to tools/list does not hold a list of tools",
    });
  });

  it("end with the error of the one that failed", async () => {
    const error = new PlugboardError("TIMEOUT", "no answer");
    await expect(listTools(() => Promise.reject(error))).rejects.toBe(error);
  });
});

describe("a tool", () => {
  it("keeps what it is described with, and nothing that is not known", async () => {
    const full = {
      name: "search",
      title: "Search",
      description: "Finds things.",
      inputSchema: { type: "object", properties: { q: { type: "string" } }, "x-own": [1] },
      outputSchema: { type: "object" },
      annotations: { readOnlyHint: true },
      execution: { taskSupport: "required" },
      _meta: { "example.com/a": 1, ui: { visibility: ["app"] } },
    };
    const { tools, diagnostics } = await list({ ...full, icons: [], other: {} });
    expect(tools).toEqual([full]);
    expect(diagnostics).toEqual([]);
  });

  it.each([
    ["description", null],
    ["description", 5],
    ["title", {}],
    ["annotations", []],
    ["_meta", "meta"],
    ["execution", "task"],
    ["outputSchema", null],
  ])("loses a malformed %s (%j) and stays", async (key, value) => {
    const { tools, diagnostics } = await list(tool("a", { [key]: value }));
    expect(tools).toEqual([{ name: "a", inputSchema }]);
    expect(diagnostics).toEqual([]);
  });

  const deep = nest(100);
  it.each<[string, unknown, string | undefined]>([
    ["it is not an object", "search", undefined],
    ["it is not an object", null, undefined],
    ["it is not an object", [tool("a")], undefined],
    ["it has no name", { inputSchema }, undefined],
    ["it has no name", tool(""), undefined],
    ["it has no name", { name: 5, inputSchema }, undefined],
    ["its inputSchema is not an object", { name: "a" }, "a"],
    ["its inputSchema is not an object", { name: "a", inputSchema: [] }, "a"],
    ["its inputSchema is nested more than 64 deep", { name: "a", inputSchema: deep }, "a"],
    ["its outputSchema is not an object", tool("a", { outputSchema: true }), "a"],
    ["its outputSchema is nested more than 64 deep", tool("a", { outputSchema: deep }), "a"],
    ['"annotations" has too many levels', tool("a", { annotations: deep }), "a"],
    ['"_meta" has too many levels', tool("a", { _meta: nest(20_000) }), "a"],
    [
      "its inputSchema refers outside of itself ($ref)",
      { name: "a", inputSchema: { $ref: "http://127.0.0.1/schema.json" } },
      "a",
    ],
    ["its definition has more than 1 MiB", tool("a", { description: "x".repeat(1_100_000) }), "a"],
    [
      "its definition has more than 1 MiB",
      tool("a", { inputSchema: { enum: Array(1_000_000).fill(0) } }),
      "a",
    ],
  ])("is left out and the others stay: %s", async (fault, item, subject) => {
    const { names, diagnostics } = await list(tool("before"), item, tool("after"));
    expect(names).toEqual(["before", "after"]);
    const message = `tool left out: ${fault}`;
    expect(diagnostics).toEqual([
      { server: "docs", message, ...(subject !== undefined && { subject }), kind: "left-out" },
    ]);
  });

  it("is named in a diagnostic without escapes and at bounded length", async () => {
    const { diagnostics } = await list({ name: `\u001b[31m${"x".repeat(1000)}` });
    expect(diagnostics[0]?.subject).toBe(`${"x".repeat(79)}…`);
  });

  it("is listed once per name: the last one, at the place of the first", async () => {
    const { tools, diagnostics } = await list(
      tool("a", { description: "first" }),
      tool("b"),
      tool("a", { description: "last" }),
    );
    expect(tools.map(({ name, description }) => [name, description])).toEqual([
      ["a", "last"],
      ["b", undefined],
    ]);
    expect(diagnostics).toEqual([
      {
        server: "docs",
        subject: "a",
        message: "the name is listed twice; the last one counts",
      },
    ]);
  });

  it("is listed without invisible characters and secrets, and changes are reported", async () => {
    const pages = async () => ({
      tools: [
        tool("hid\u200bden", {
          description: "Finds\u202e hunter2.",
          _meta: { a: ["hunter2", 1, null], b: { c: "x\u200b" } },
        }),
        tool("plain"),
      ],
    });
    const redact = (text: string): string => text.replace("hunter2", "[REDACTED]");
    const { tools, diagnostics } = await listTools(pages, redact);
    expect(tools.map(({ name, description }) => [name, description])).toEqual([
      ["hid\u200bden", "Finds [REDACTED]."],
      ["plain", undefined],
    ]);
    expect(tools[0]?._meta).toEqual({ a: ["[REDACTED]", 1, null], b: { c: "x\u200b" } });
    expect(diagnostics).toEqual([
      {
        server: "docs",
        subject: "hidden",
        message: "invisible characters were removed from its description",
      },
      {
        server: "docs",
        subject: "hidden",
        message: "invisible characters are in its name, where they had to be left",
      },
    ]);
  });

  it("may have a name that means something to objects", async () => {
    const names = ["__proto__", "constructor", "toString", "hasOwnProperty"];
    const items = names.map((name) => tool(name)) as unknown[];
    items.push(JSON.parse('{"__proto__":{"name":"polluted"},"inputSchema":{}}'));
    const listed = await list(...items);
    expect(listed.names).toEqual(names);
    expect(listed.diagnostics).toHaveLength(1);
    expect(({} as { name?: string }).name).toBeUndefined();
  });
});

describe("the list", () => {
  it("is cut at 2000 tools", async () => {
    const items = Array.from({ length: 10_000 }, (_, index) => tool(`tool-${index}`));
    const { names, diagnostics } = await list(...items);
    expect(names).toHaveLength(MAX_TOOLS);
    expect(names.at(-1)).toBe("tool-1999");
    expect(diagnostics).toEqual([
      { server: "docs", message: "the tool list is cut at 2000 tools" },
    ]);
  });

  it("is whole at exactly 2000", async () => {
    const items = Array.from({ length: 2000 }, (_, index) => tool(`tool-${index}`));
    const { names, diagnostics } = await list(...items);
    expect(names).toHaveLength(2000);
    expect(diagnostics).toEqual([]);
  });

  it("is cut at 16 MiB", async () => {
    const description = "x".repeat(400_000);
    const items = Array.from({ length: 60 }, (_, n) => tool(`tool-${n}`, { description }));
    const { names, diagnostics } = await list(...items);
    expect(names).toHaveLength(41);
    expect(diagnostics.at(-1)).toEqual({
      server: "docs",
      message: "the tool list is cut at 16 MiB",
    });
  });

  it("is not cut for one tool that alone is larger", async () => {
    const huge = tool("huge", { description: "x".repeat(20_000_000) });
    const { names } = await list(tool("before"), huge, tool("after"));
    expect(names).toEqual(["before", "after"]);
  });

  it("describes 50 faults and counts the others; a cut is always reported", async () => {
    const faults = Array.from({ length: 70 }, () => ({ name: "bad" }));
    const items = Array.from({ length: 2001 }, (_, index) => tool(`tool-${index}`));
    const { diagnostics } = await list(...faults, ...items);
    expect(diagnostics).toHaveLength(52);
    expect(diagnostics.slice(-2).map(({ message }) => message)).toEqual([
      "20 more faults like these",
      "the tool list is cut at 2000 tools",
    ]);
  });
});

function nest(depth: number): object {
  let schema: object = {};
  for (let level = 0; level < depth; level += 1) schema = { not: schema };
  return schema;
}
