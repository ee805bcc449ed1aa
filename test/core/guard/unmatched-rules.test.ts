import { describe, expect, it } from "vitest";
import { UnmatchedRules } from "../../../src/core/guard/unmatched-rules.ts";
import type { ServerGuard, ToolRules } from "../../../src/core/types/guard-settings.ts";
import type { Include } from "../../../src/core/types/include.ts";
import { toolName } from "../../../src/core/types/tool-pattern.ts";
import { contentOf, subject } from "./subjects.ts";

interface Board {
  tools?: ToolRules;
  /** The settings of `files`. */
  files?: ServerGuard;
  include?: Include;
  /** The servers that have listed their tools. */
  listed?: string[];
  /** The servers that have listed their resources and prompts. */
  listedContent?: string[];
  /** Other servers of the configuration. */
  leftOut?: string[];
}

const TOOLS = ["files/read_file", "files/write_file", "a/b_c", "a_b/d", "native/exec"];
const CONTENT = ["files/resource:file:///docs/a", "files/prompt:review"];
const TEMPLATE = "files/resource:db:///{table}";
const SERVERS = ["files", "a", "a_b"];

function unmatched(board: Board) {
  const { tools, files, include, listed = SERVERS, listedContent = SERVERS, leftOut = [] } = board;
  const servers = SERVERS.map((name) => ({
    name,
    enabled: true,
    ...(name === "files" && { guard: files, include }),
  }));
  const rules = new UnmatchedRules({
    rules: tools === undefined ? [] : [{ place: "tools", ...tools }],
    servers,
    known: {
      servers: [...SERVERS, ...leftOut].map((name) => ({ name })),
      template: "mcp__{server}__{tool}",
    },
  });
  return rules.find({
    tools: [
      ...TOOLS.map((name) => toolName(subject(name))),
      ...CONTENT.map((name) => toolName(contentOf(name))),
      toolName(
        contentOf(TEMPLATE, {
          content: { kind: "resource", name: "db:///{table}", isTemplate: true },
        }),
      ),
    ],
    isListed: (name, kind) => (kind === "tool" ? listed : listedContent).includes(name),
  });
}

describe("a rule that matches no tool", () => {
  it.each<[string, string]>([
    ["files/wirte_file", "matches no tool; did you mean files/write_file?"],
    ["files/resources:*", "matches no tool; did you mean files/resource:*?"],
    ["files/promt:review", "matches no tool; did you mean files/prompt:review?"],
    ["files/file:///etc/*", "matches no tool; did you mean files/resource:file:///etc/*?"],
    ["mcp_files_wirte_file", "matches no tool; did you mean files/write_file?"],
    ["mcp__files__wirte_file", "matches no tool; did you mean files/write_file?"],
    ["files.wirte_file", "matches no tool; did you mean files/write_file?"],
    ["wirte_file", "matches no tool; did you mean files/write_file?"],
    ["files/wirte_*", "matches no tool; did you mean files/write_file?"],
    ["flies/*", "matches no tool: there is no such server; did you mean files/*?"],
    ["fs/write_file", "matches no tool: there is no such server; did you mean files/write_file?"],
    ["mcp_zzz_qqq", "matches no tool: there is no such server"],
    ["*/qqq", "matches no tool"],
  ])("in deny and ownerOnly: %s", (rule, problem) => {
    for (const key of ["deny", "ownerOnly"]) {
      const [found, ...others] = unmatched({ tools: { [key]: [rule, "files/*"] } });
      expect(others).toEqual([]);
      expect(found).toMatchObject({ rule, setting: `tools.${key}`, restricts: true, problem });
    }
  });

  it.each<[string, string]>([
    ["files/wirte_file", "matches no tool; did you mean files/write_file?"],
    ["write_file", "matches no tool; did you mean files/write_file?"],
    ["files", "matches no tool; did you mean files/*?"],
    ["files*", "matches no tool; did you mean files/*?"],
    ["mcp_a_b_c", "allows nothing, because it could mean a/b_c or a_b/c; write the one you mean"],
  ])("in allow: %s", (rule, problem) => {
    expect(unmatched({ tools: { allow: [rule, "files/*"] } })).toMatchObject([
      { rule, setting: "tools.allow", restricts: false, problem },
    ]);
  });

  it.each<[string, Board, object]>([
    [
      "its rules",
      { files: { rules: [{ place: "servers.files.tools", deny: ["wirte_file", "write_file"] }] } },
      { rule: "wirte_file", setting: "servers.files.tools.deny", restricts: true },
    ],
    [
      "its approvals",
      { files: { approval: { tools: { "wirte_*": "ask", "write_*": "ask" } } } },
      { rule: "wirte_*", setting: "approval.tools of files", restricts: true },
    ],
    [
      "its limits",
      { files: { rateLimit: { tools: { wirte_file: false } } } },
      { rule: "wirte_file", setting: "rateLimit.tools of files", restricts: false },
    ],
    [
      "what models get of it",
      { include: { tools: { wirte_file: "manual" } } },
      { rule: "wirte_file", setting: "include.tools of files", restricts: true },
    ],
  ])("in the settings of a server, %s: the nearest is named as there", (_, board, expected) => {
    expect(unmatched(board)).toMatchObject([{ ...expected, nearest: "write_file" }]);
  });

  it.each<[string, Board]>([
    [
      "as long as its server has not listed its tools",
      { tools: { deny: ["files/x"] }, listed: [] },
    ],
    ["as long as any server may have the tool", { tools: { deny: ["*/x"] }, listed: ["files"] }],
    ["if its server is not on this board", { tools: { deny: ["docs/x"] }, leftOut: ["docs"] }],
    ["if other servers are not on this board", { tools: { deny: ["*/x"] }, leftOut: ["docs"] }],
  ])("is not told %s", (_, board) => {
    expect(unmatched(board)).toEqual([]);
  });

  it("is told of its own server, whatever others do", () => {
    expect(unmatched({ tools: { deny: ["files/x"] }, listed: ["files"] })).toHaveLength(1);
  });
});

it("a rule that has matched once is never told", () => {
  const rules = new UnmatchedRules({
    rules: [{ place: "tools", deny: ["a/b"] }],
    servers: [{ name: "a", enabled: true }],
    known: { servers: [{ name: "a" }], template: "mcp__{server}__{tool}" },
  });
  const isListed = () => true;
  expect(rules.find({ tools: [], isListed })).toHaveLength(1);
  expect(rules.find({ tools: [toolName(subject("a/b"))], isListed })).toEqual([]);
  expect(rules.isEmpty).toBe(true);
});

describe("a rule for resources or prompts that matches nothing", () => {
  const lists = "that a server lists";

  it.each<[string, string | undefined]>([
    ["files/resource:file:///docs/*", undefined],
    ["files/resource:FILE:///docs/A", undefined],
    ["*/resource:*", undefined],
    ["resource:*", undefined],
    ["files/resource:db:///users", undefined],
    ["files/prompt:review", undefined],
    [
      "files/resource:file:///dosc/a",
      `matches no resource ${lists}; did you mean files/resource:file:///docs/a?`,
    ],
    ["files/prompt:reviw", `matches no prompt ${lists}; did you mean files/prompt:review?`],
    ["a/prompt:zzzzzz", `matches no prompt ${lists}`],
    [
      "flies/prompt:review",
      "matches no prompt: there is no such server; did you mean files/prompt:review?",
    ],
  ])("in deny: %s", (rule, problem) => {
    const found = unmatched({ tools: { deny: [rule] } });
    expect(found.map((each) => each.problem)).toEqual(problem === undefined ? [] : [problem]);
  });

  it("is not known to match nothing before they are listed", () => {
    expect(
      unmatched({ tools: { deny: ["files/prompt:x", "*/resource:x"] }, listedContent: ["a"] }),
    ).toEqual([]);
  });

  it("in the settings of a server", () => {
    const approval = { tools: { "resource:file:*": "ask", "prompt:revew": "ask" } } as const;
    expect(unmatched({ files: { approval } })).toMatchObject([
      { rule: "prompt:revew", problem: `matches no prompt ${lists}; did you mean prompt:review?` },
    ]);
  });
});
