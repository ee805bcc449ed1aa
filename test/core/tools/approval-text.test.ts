import { describe, expect, it } from "vitest";
import { approvalText, whatItDoes } from "../../../src/core/tools/approval-text.ts";
import type { ApprovalRequest } from "../../../src/core/types/approval.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";

const request = (more: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  callId: "1",
  tool: "files/write",
  hash: "h1",
  publicName: "mcp__files__write",
  server: "files",
  args: {},
  hints: {},
  trusted: false,
  always: "until-changed",
  reason: "every call needs approval",
  ...more,
});

const argsOf = (args: JsonObject, full = false) => approvalText(request({ args }), full).args;

describe("the text before an approval", () => {
  it("names the tool, what it says it does, and the reason", () => {
    const { question, described, about } = approvalText(
      request({
        title: "Write a file",
        description: "Writes a file.\nOverwrites it.",
        hints: { destructive: true, openWorld: false },
      }),
    );
    expect(question).toBe(
      'files/write ("Write a file") needs your approval: every call needs approval',
    );
    expect(described).toEqual(["Writes a file.", "Overwrites it."]);
    expect(about).toEqual([
      "It says that it may delete or overwrite something. Claims to reach no other system (unverified).",
    ]);
  });

  it("claims nothing about what a resource does", () => {
    const { about } = approvalText(request({ content: "resource", hints: { readOnly: true } }));
    expect(about).toEqual([]);
  });

  it.each([
    [{}, undefined],
    [{ readOnly: true, idempotent: true }, "Claims to only read (unverified)."],
    [{ readOnly: false }, "It says that it may change or delete something."],
    [{ destructive: true }, "It says that it may delete or overwrite something."],
    [
      { destructive: false, idempotent: true },
      "Claims to add only, never delete; change nothing more when called again (unverified).",
    ],
    [{ openWorld: true }, "It says that it reaches other systems."],
  ])("says what a tool with %j does", (hints, does) => {
    expect(whatItDoes(hints)).toBe(does);
  });

  it("believes a server that is trusted, and says so if it says nothing", () => {
    const hints = { readOnly: true };
    expect(approvalText(request({ hints, trusted: true })).about).toEqual(["It only reads."]);
    const adds = { destructive: false, openWorld: true };
    expect(whatItDoes(adds, true)).toBe("It reaches other systems; adds only, and never deletes.");
    expect(approvalText(request()).about).toEqual(["It does not say whether it changes anything."]);
  });

  it.each<[string, JsonObject, string[]]>([
    ["none", {}, []],
    ["plain values", { a: 1, b: "x", c: null }, ["a: 1", 'b: "x"', "c: null"]],
    [
      "nested values",
      { edits: [{ from: "a", to: [] }, 2], o: {} },
      ["edits: [", "  {", '    from: "a",', "    to: []", "  },", "  2", "]", "o: {}"],
    ],
    [
      "a text of several lines, with each end of a line",
      { text: "one\ntwo\n", other: "\n" },
      ['text: "one\\n', '  two\\n"', 'other: "\\n"'],
    ],
    [
      "characters that cannot be seen, and a forged question",
      { path: "a\u001b[2K\u202e\u200b\u{e0041}", "b\nAllow? yes": '" c: 2' },
      ['path: "a\\u001b[2K\\u{202e}\\u{200b}\\u{e0041}"', '"b\\nAllow? yes": "\\" c: 2"'],
    ],
  ])("has the arguments in full: %s", (_, args, lines) => {
    expect(argsOf(args)).toEqual(lines);
    expect(approvalText(request({ args })).leftOut).toBeUndefined();
  });

  it("shows the beginning and the end of a long text, counts the rest, and shows all on request", () => {
    const content = `${"a".repeat(1500)}${"b".repeat(98_100)}${"c".repeat(400)}`;
    const long = request({ args: { content, path: "/etc/passwd" } });
    const { args, leftOut } = approvalText(long);
    expect(args).toEqual([
      `content: "${"a".repeat(1500)}"`,
      "  … 98100 characters left out …",
      `  "${"c".repeat(400)}"`,
      'path: "/etc/passwd"',
    ]);
    expect(leftOut).toBe("98100 characters of the arguments");
    expect(approvalText(long, true)).toMatchObject({
      args: [`content: "${content}"`, 'path: "/etc/passwd"'],
    });
    expect(approvalText(long, true).leftOut).toBeUndefined();
  });

  it("counts the lines of very many arguments", () => {
    const args = { list: Array.from({ length: 1000 }, (_, at) => at) };
    const { args: lines, leftOut } = approvalText(request({ args }));
    expect(lines).toHaveLength(200);
    expect(leftOut).toBe("802 lines of the arguments");
    expect(argsOf(args, true)).toHaveLength(1002);
  });

  it("says that a description is cut", () => {
    const description = "x".repeat(1000);
    const { described, leftOut } = approvalText(request({ description }));
    expect(described[0]).toHaveLength(600);
    expect(leftOut).toBe("the rest of the description");
    expect(approvalText(request({ description }), true).described[0]).toBe(description);
  });

  it("survives arguments that are nested deeper than the stack", () => {
    let deep: unknown = "end";
    for (let level = 0; level < 200_000; level += 1) deep = [deep];
    expect(argsOf({ deep }).at(20)?.trim()).toMatch(/^\(nested too deep|^\[/);
  });
});
