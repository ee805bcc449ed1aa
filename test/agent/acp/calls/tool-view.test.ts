// The title and the kind of a call.

import { describe, expect, it } from "vitest";
import { toolKind, toolTitle } from "../../../../src/agent/acp/calls/tool-view.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import type { Tool } from "../../../../src/core/types/tool.ts";

function toolOf(tool: string, annotations?: JsonObject, server = "fs"): Tool {
  return {
    name: `mcp__${server}__${tool}`,
    label: `MCP: ${server}/${tool}`,
    description: "",
    parameters: {},
    source: { kind: "mcp", server, tool },
    ...(annotations !== undefined && { annotations }),
    execute: () => Promise.resolve({ content: [] }),
  };
}

describe("toolTitle", () => {
  it.each<[string, Tool, JsonObject, string]>([
    ["the tool's name in words", toolOf("list_all-files"), {}, "fs: list all files"],
    ["the tool's own title", toolOf("x", { title: "Read" }), {}, "fs: Read"],
    ["an empty title", toolOf("x", { title: " " }), {}, "fs: x"],
    ["the telling argument", toolOf("read"), { mode: "r", path: "a.md" }, "fs: read a.md"],
    ["a path in the session's directory", toolOf("read"), { path: "/w/a/b" }, "fs: read a/b"],
    ["the directory itself", toolOf("list"), { path: "/w/" }, "fs: list /w/"],
    ["a path beside it", toolOf("read"), { path: "/want" }, "fs: read /want"],
    ["the only argument else", toolOf("read"), { deep: {}, n: 3 }, "fs: read 3"],
    ["all where none tells more", toolOf("add"), { a: 1, b: 2 }, "fs: add a=1 b=2"],
    ["no argument that tells", toolOf("read"), { deep: {}, flag: true, path: " " }, "fs: read"],
    ["no escapes", toolOf("read"), { path: "a\u001b[31m\nb" }, "fs: read a b"],
    ["a key of the prototype", toolOf("read"), JSON.parse('{"__proto__": "x"}'), "fs: read x"],
  ])("%s", (_, tool, args, title) => {
    expect(toolTitle(tool, args, "/w")).toBe(title);
  });

  it("of a native tool names no server", () => {
    const tool: Tool = { ...toolOf("x"), name: "read_file", source: { kind: "native" } };
    expect(toolTitle(tool, {}, "/w")).toBe("read file");
    expect(toolKind(tool)).toBe("other");
    const titled: Tool = { ...tool, annotations: { title: "run" } };
    expect(toolTitle(titled, { cwd: "src", command: "npm test" }, "/w")).toBe("run npm test");
  });
});

describe("toolKind", () => {
  it.each<[string, JsonObject | undefined, string]>([
    ["read", { readOnlyHint: true }, "read"],
    ["search_files", { readOnlyHint: true }, "search"],
    ["get", { readOnlyHint: true, openWorldHint: true }, "fetch"],
    ["delete_file", { destructiveHint: true }, "delete"],
    ["write", { destructiveHint: true }, "edit"],
    ["run_command", { destructiveHint: true }, "execute"],
    ["exec", undefined, "execute"],
    ["truncate", undefined, "other"],
    ["write", { readOnlyHint: "yes" }, "other"],
    ["write", undefined, "other"],
  ])("%s with %o is %s", (name, annotations, kind) => {
    expect(toolKind({ ...toolOf(name, annotations), trusted: true })).toBe(kind);
  });

  it.each<[string, JsonObject | undefined]>([
    ["search_files", { readOnlyHint: true }],
    ["write", { destructiveHint: true }],
    ["exec", undefined],
  ])("%s with %o of a server that is not trusted is other", (name, annotations) => {
    expect(toolKind(toolOf(name, annotations))).toBe("other");
  });
});
