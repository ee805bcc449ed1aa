import { describe, expect, it } from "vitest";
import type { PerTool } from "../../../src/core/types/guard-settings.ts";
import { exceptionFor } from "../../../src/core/types/per-tool.ts";
import { toolName } from "../../../src/core/types/tool-pattern.ts";

const named = (tool: string) =>
  toolName({ source: { kind: "mcp", server: "files", tool }, publicName: `mcp__files__${tool}` });

describe("the exception for a tool", () => {
  it.each<[string, PerTool<number> | undefined, number | undefined]>([
    ["absent without a setting", undefined, undefined],
    ["absent without exceptions", { default: 1 }, undefined],
    ["absent if only other tools are named", { tools: { read_file: 1 } }, undefined],
    ["found by its own name", { tools: { write_file: 1 } }, 1],
    ["found by a pattern", { tools: { "write_*": 1 } }, 1],
    ["found by its canonical name", { tools: { "files/write_file": 1 } }, 1],
    ["found by its public name", { tools: { mcp__files__write_file: 1 } }, 1],
    ["found by the name that other programs give it", { tools: { mcp_files_write_file: 1 } }, 1],
    ["found although - is written for _", { tools: { "write-file": 1 } }, 1],
    ["absent under the name of another server", { tools: { mcp_docs_write_file: 1 } }, undefined],
    [
      "the one by its own name, whatever the patterns say",
      { tools: { "write_*": 5, write_file: 1 } },
      1,
    ],
    ["the strictest of the patterns", { tools: { "*": 1, "write_*": 5, "w*": 3 } }, 5],
    [
      "found by its own name, even if it loosens the default",
      { default: 9, tools: { write_file: 1 } },
      1,
    ],
    [
      "found by a pattern, even if it loosens the default",
      { default: 9, tools: { "mcp_files_w*": 1 } },
      1,
    ],
    [
      "absent if a similar name would loosen the default",
      { default: 9, tools: { "write-file": 1 } },
      undefined,
    ],
    [
      "absent if the server's name would loosen the default",
      { default: 9, tools: { files: 1 } },
      undefined,
    ],
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
