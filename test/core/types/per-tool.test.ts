import { describe, expect, it } from "vitest";
import type { PerTool } from "../../../src/core/types/guard-settings.ts";
import { exceptionFor } from "../../../src/core/types/per-tool.ts";
import { toolName } from "../../../src/core/types/tool-pattern.ts";

const named = (tool: string) =>
  toolName({ source: { kind: "mcp", server: "files", tool }, publicName: `mcp__files__${tool}` });

describe("the exception for a tool", () => {
  it.each<[string, PerTool<number> | undefined, number | undefined]>([
    ["none without a setting", undefined, undefined],
    ["none without exceptions", { default: 1 }, undefined],
    ["none for other tools", { tools: { read_file: 1 } }, undefined],
    ["by its own name", { tools: { write_file: 1 } }, 1],
    ["by a pattern", { tools: { "write_*": 1 } }, 1],
    ["by its canonical name", { tools: { "files/write_file": 1 } }, 1],
    ["by its public name", { tools: { mcp__files__write_file: 1 } }, 1],
    ["as other programs spell it", { tools: { mcp_files_write_file: 1 } }, 1],
    ["with another character", { tools: { "write-file": 1 } }, 1],
    ["none by the name of another server", { tools: { mcp_docs_write_file: 1 } }, undefined],
    ["by its very name before any pattern", { tools: { "write_*": 5, write_file: 1 } }, 1],
    ["the strictest of the patterns", { tools: { "*": 1, "write_*": 5, "w*": 3 } }, 5],
    ["loosening by its own name", { default: 9, tools: { write_file: 1 } }, 1],
    ["loosening by a pattern", { default: 9, tools: { "mcp_files_w*": 1 } }, 1],
    ["not loosening by a similar name", { default: 9, tools: { "write-file": 1 } }, undefined],
    ["not loosening by the server's name", { default: 9, tools: { files: 1 } }, undefined],
  ])("is %s", (_, setting, expected) => {
    expect(exceptionFor(setting, named("write_file"), (value) => value)).toBe(expected);
  });

  it("does not loosen what applies without a default", () => {
    const setting = { tools: { "write-file": 1 } };
    expect(exceptionFor(setting, named("write_file"), (value) => value, 9)).toBeUndefined();
  });

  it.each(["constructor", "__proto__", "toString"])("takes %s for a name", (tool) => {
    const tools = Object.assign(Object.create(null) as Record<string, number>, { other: 1 });
    expect(exceptionFor({ tools }, named(tool), (value) => value)).toBeUndefined();
  });
});
