// Which answers of a client count for which call of the agent.

import { describe, expect, it } from "vitest";
import { GivenPermissions } from "../../../src/agent/front/given-permissions.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";
import type { Tool } from "../../../src/core/types/tool.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const TOOLS: Pick<Tool, "name" | "source">[] = [
  { name: "docs__search", source: { kind: "mcp", server: "docs", tool: "search" } },
  { name: "docs__delete", source: { kind: "mcp", server: "docs", tool: "delete" } },
  // With the template "{tool}", a name may be one of the agent's own tools as well.
  { name: "read", source: { kind: "mcp", server: "files", tool: "read" } },
];
const TOOL = "docs__search";
const ARGS = { query: "a", limit: 3 };
const OPTIONS = [
  { optionId: "once", name: "Allow", kind: "allow_once" },
  { optionId: "always", name: "Always", kind: "allow_always" },
  { optionId: "no", name: "Reject", kind: "reject_once" },
  { optionId: "never", name: "Never", kind: "reject_always" },
];
const selected = (optionId: unknown): JsonObject => ({
  outcome: { outcome: "selected", optionId },
});
const YES = selected("once");

function permissions() {
  const clock = new ManualClock();
  return { clock, given: new GivenPermissions({ clock, tools: () => TOOLS }) };
}

function question(toolCall: JsonObject, options: unknown = OPTIONS): JsonObject {
  return { sessionId: "s", toolCall: { toolCallId: "1", ...toolCall }, options };
}

const ASKED = { title: "mcp__plugboard__docs__search", rawInput: ARGS };

/** Asks, answers, and tells whether the call may be made. */
function counts(toolCall: JsonObject, answer: JsonObject, options?: unknown): boolean {
  const { given } = permissions();
  const request = question(toolCall, options);
  given.asked(request);
  given.answered(request, answer);
  return given.take(TOOL, ARGS);
}

describe("the tool is recognised", () => {
  const wrapped = { server: "plugboard", tool: TOOL, arguments: ARGS };
  const text = { type: "content", content: { type: "text", text: JSON.stringify(ARGS) } };
  it.each<[string, JsonObject]>([
    ["claude-agent-acp", { title: "mcp__plugboard__docs__search", kind: "other", rawInput: ARGS }],
    ["codex-acp", { title: "mcp.plugboard.docs__search", kind: "execute", rawInput: wrapped }],
    ["Gemini CLI", { title: "docs__search (plugboard MCP Server)", content: [text] }],
    ["OpenCode", { title: "plugboard_docs__search", rawInput: ARGS }],
    [
      "a name beside the title",
      {
        ...ASKED,
        name: "mcp__plugboard__docs__search",
        _meta: { claudeCode: { toolName: "mcp__plugboard__docs__search", parentToolUseId: "t1" } },
      },
    ],
    ["a slot of OpenClaw", { title: "plugboard-3__docs__search", rawInput: ARGS }],
    ["a path", { title: "plugboard/docs__search", rawInput: ARGS }],
    ["the public name itself", { title: "docs__search", rawInput: ARGS }],
    ["other order of the arguments", { ...ASKED, rawInput: { limit: 3, query: "a" } }],
  ])("as %s writes it", (_, toolCall) => {
    expect(counts(toolCall, YES)).toBe(true);
  });

  it.each<[string, JsonObject]>([
    ["another tool", { title: "mcp__plugboard__docs__delete", rawInput: ARGS }],
    [
      "a tool of another server of the agent",
      { title: "mcp__other__docs__search", rawInput: ARGS },
    ],
    ["a title that only mentions it", { title: "May I use docs__search?", rawInput: ARGS }],
    ["a tool that the board does not have", { title: "plugboard_docs__find", rawInput: ARGS }],
    ["other arguments", { ...ASKED, rawInput: { ...ARGS, limit: 4 } }],
    ["fewer arguments", { ...ASKED, rawInput: { query: "a" } }],
    ["no arguments", { ...ASKED, rawInput: {} }],
    ["arguments that it does not show", { title: ASKED.title }],
    ["arguments of another server", { ...ASKED, rawInput: { ...wrapped, server: "other" } }],
    ["a name without an end", { title: `plugboard_${"x".repeat(100_000)}`, rawInput: ARGS }],
    ["a title that is no text", { title: 1, rawInput: ARGS }],
    // The person who permits it sees only the title.
    ["another title than its name", { title: "Search", name: `plugboard_${TOOL}`, rawInput: ARGS }],
    [
      "another title than its name in _meta",
      { title: "Search", _meta: { x: { toolName: `plugboard_${TOOL}` } }, rawInput: ARGS },
    ],
    ["another name than its title", { ...ASKED, name: "mcp__plugboard__docs__delete" }],
    // A model chooses the arguments of a call, whatever tool it calls.
    [
      "a tool of the agent whose arguments name it",
      { title: "mcp__notes__save", rawInput: wrapped },
    ],
  ])("%s does not count", (_, toolCall) => {
    expect(counts(toolCall, YES)).toBe(false);
  });

  it.each<[string, JsonObject]>([
    ["harmless words", { content: [{ ...text, content: { type: "text", text: "Lists files" } }] }],
    [
      "other arguments",
      { content: [{ ...text, content: { type: "text", text: `{"query":"b"}` } }] },
    ],
    [
      "a key twice",
      {
        content: [
          { ...text, content: { type: "text", text: `{"query":"b","query":"a","limit":3}` } },
        ],
      },
    ],
    ["words after the arguments", { content: [text, { ...text, content: { type: "text" } }] }],
    ["a diff", { content: [{ type: "diff", path: "/a", newText: "b" }] }],
    ["a terminal", { content: [{ type: "terminal", terminalId: "t" }] }],
    ["content that is no list", { content: "Lists files" }],
    ["a place", { locations: [{ path: "/tmp/harmless" }] }],
    ["a harmless kind", { kind: "read" }],
    ["a result", { rawOutput: "Nothing was changed." }],
    ["an unknown status", { status: "Only a preview" }],
    ["a name that is not the tool's", { name: "list_files" }],
    ["words in _meta", { _meta: { terminal_output: { data: "Lists files" } } }],
    ["a list in _meta", { _meta: { notes: ["Lists files"] } }],
    ["words in place of an id", { _meta: { parentToolUseId: { x: "Lists files" } } }],
    ["a field that we do not know", { description: "Lists files" }],
  ])("one over which the agent shows %s does not count", (_, shown) => {
    expect(counts({ ...ASKED, ...shown }, YES)).toBe(false);
    const { given } = permissions();
    given.saw({ toolCallId: "1", ...ASKED, ...shown });
    const request = question(ASKED);
    given.asked(request);
    given.answered(request, YES);
    // A client may still show what it was shown before.
    expect(given.take(TOOL, ARGS)).toBe(false);
  });

  it("one whose question says something else beside it does not count", () => {
    const { given } = permissions();
    const request = { ...question(ASKED), description: "Lists files" };
    given.asked(request);
    given.answered(request, YES);
    expect(given.take(TOOL, ARGS)).toBe(false);
  });

  it("arguments that a person cannot see do not count", () => {
    const { given } = permissions();
    const args = { query: "a\u202eb" };
    const request = question({ ...ASKED, rawInput: args });
    given.asked(request);
    given.answered(request, YES);
    expect(given.take(TOOL, args)).toBe(false);
  });

  it("arguments that are shown as input and as text count", () => {
    expect(counts({ ...ASKED, content: [text] }, YES)).toBe(true);
    const lines = JSON.stringify(ARGS, null, 2);
    const content = [{ ...text, content: { type: "text", text: lines } }];
    expect(counts({ ...ASKED, content }, YES)).toBe(true);
  });

  it("a tool may have arguments that look like those of codex-acp", () => {
    const { given } = permissions();
    const args = { server: "plugboard", tool: "docs__delete", arguments: {} };
    const request = question({ title: `plugboard_${TOOL}`, rawInput: args });
    given.asked(request);
    given.answered(request, YES);
    expect([given.take("docs__delete", {}), given.take(TOOL, args)]).toEqual([false, true]);
  });

  it.each<[title: string, tools: string[], counted: string[]]>([
    ["plugboard__docs__delete", ["docs__delete"], ["docs__delete"]],
    ["plugboard__docs__delete", ["_docs__delete"], ["_docs__delete"]],
    ["plugboard__docs__delete", ["docs__delete", "_docs__delete"], []],
    ["plugboard-2__docs__delete", ["docs__delete"], ["docs__delete"]],
    ["plugboard-2__docs__delete", ["2__docs__delete"], ["2__docs__delete"]],
    ["plugboard-2__docs__delete", ["docs__delete", "2__docs__delete"], []],
    ["plugboard__docs__delete", ["docs__delete", "plugboard__docs__delete"], []],
    ["mcp_plugboard_docs__delete", ["docs__delete", "mcp_plugboard_docs__delete"], []],
  ])("%s where the tools are %j", (title, names, counted) => {
    const tools = names.map((name): Pick<Tool, "name" | "source"> => {
      return { name, source: { kind: "mcp", server: "docs", tool: "delete" } };
    });
    const given = new GivenPermissions({ clock: new ManualClock(), tools: () => tools });
    const request = question({ title, rawInput: ARGS });
    given.asked(request);
    given.answered(request, YES);
    expect(names.filter((name) => given.take(name, ARGS))).toEqual(counted);
  });

  it("a bare name counts only where it cannot be a tool of the agent itself", () => {
    const { given } = permissions();
    for (const [title, expected] of [
      ["read", false],
      ["mcp__plugboard__read", true],
    ] as const) {
      const request = question({ toolCallId: title, title, rawInput: ARGS });
      given.asked(request);
      given.answered(request, YES);
      expect(given.take("read", ARGS)).toBe(expected);
    }
  });
});

describe("what was shown before the question belongs to it", () => {
  it.each<[string, JsonObject, JsonObject]>([
    [
      "codex-acp names only the call",
      {
        title: `mcp.plugboard.${TOOL}`,
        rawInput: { server: "plugboard", tool: TOOL, arguments: ARGS },
        _meta: { is_mcp_tool_call: true },
      },
      { kind: "execute", status: "pending" },
    ],
  ])("%s", (_, shown, asked) => {
    const { given } = permissions();
    given.saw({ toolCallId: "1", ...shown });
    const request = question(asked);
    given.asked(request);
    given.answered(request, YES);
    expect(given.take(TOOL, ARGS)).toBe(true);
  });

  it.each<[string, updates: JsonObject[], asked: JsonObject]>([
    ["no arguments in the question", [], { rawInput: {} }],
    ["a call that begins once more", [{ sessionUpdate: "tool_call", title: ASKED.title }], {}],
    ["a text in the question", [], { rawInput: "x = harmless" }],
    ["a number in the question", [], { rawInput: 0 }],
    ["a list in the question", [], { rawInput: [] }],
    ["null in the question", [], { rawInput: null }],
    ["a text in an update", [{ rawInput: "x = harmless" }], {}],
    ["null in an update", [{ rawInput: null }], {}],
    ["null in an update and in the question", [{ rawInput: null }], { rawInput: null }],
    ["no arguments in an update", [{ rawInput: {} }], {}],
    ["no arguments in an update and in the question", [{ rawInput: {} }], { rawInput: {} }],
    ["a text in an update, and none in the question", [{ rawInput: "x" }], { rawInput: {} }],
    ["other arguments in an update", [{ rawInput: { query: "b" } }], { rawInput: {} }],
  ])("what was shown since counts in its place: %s", (_, updates, asked) => {
    const { given } = permissions();
    given.saw({ toolCallId: "1", ...ASKED });
    for (const update of updates) given.saw({ toolCallId: "1", ...update });
    const request = question(asked);
    given.asked(request);
    given.answered(request, YES);
    expect(given.take(TOOL, ARGS)).toBe(false);
  });

  it.each([[[]], [null]])(
    "arguments in its content do not count once the content is %j",
    (empty) => {
      const { given } = permissions();
      const text = { type: "text", text: JSON.stringify(ARGS) };
      const content = [{ type: "content", content: text }];
      given.saw({ toolCallId: "1", title: ASKED.title, content });
      const request = question({ content: empty });
      given.asked(request);
      given.answered(request, YES);
      expect(given.take(TOOL, ARGS)).toBe(false);
    },
  );

  it.each(["9007199254740993", "-9007199254740993", "1e400"])(
    "a number of which the client may show more than is left of it does not count: %s",
    (number) => {
      const args = JSON.parse(`{"amount":[${number}]}`) as JsonObject;
      const { given } = permissions();
      const request = question({ ...ASKED, rawInput: args });
      given.asked(request);
      given.answered(request, YES);
      expect(given.take(TOOL, args)).toBe(false);
    },
  );

  it.each<[string, unknown]>([
    ["a number", 1],
    ["half a character", "\ud800"],
    ["letters that can be written in two ways", "e\u0301"],
    ["no id", undefined],
  ])("no call counts after one whose id the client may take for another's: %s", (_, toolCallId) => {
    const { given } = permissions();
    given.saw({ toolCallId, title: "Look" });
    const request = question(ASKED);
    given.asked(request);
    given.answered(request, YES);
    expect(given.take(TOOL, ARGS)).toBe(false);
  });

  const begun = { sessionUpdate: "tool_call", ...ASKED };
  it.each<[string, counted: boolean, shown: JsonObject]>([
    ["a call that begins", true, begun],
    ["a call that begins, with what is not needed", true, { ...begun, content: [], _meta: null }],
    [
      "an update of a call that has not begun",
      false,
      { ...ASKED, sessionUpdate: "tool_call_update" },
    ],
    ["a call that begins with null for content", false, { ...begun, content: null }],
    ["a call that begins with null for places", false, { ...begun, locations: null }],
    ["a call that begins with null for its status", false, { ...begun, status: null }],
    ["a call that begins without a title", false, { ...begun, title: undefined, name: TOOL }],
    ["a number for _meta", false, { ...begun, _meta: 1 }],
    ["a text for _meta", false, { ...begun, _meta: TOOL }],
  ])("only what every client reads says what the arguments are: %s", (_, counted, shown) => {
    const { given } = permissions();
    given.saw({ toolCallId: "1", ...shown });
    // A client that has taken no notice of that shows a call without arguments.
    const request = question({ title: ASKED.title });
    given.asked(request);
    given.answered(request, YES);
    expect(given.take(TOOL, ARGS)).toBe(counted);
  });

  it("a tool without arguments needs none", () => {
    const { given } = permissions();
    const request = question({ title: `plugboard_${TOOL}`, rawInput: {} });
    given.asked(request);
    given.answered(request, YES);
    expect(given.take(TOOL, {})).toBe(true);
  });
});

describe("the answer", () => {
  it.each<[string, JsonObject, boolean]>([
    ["allow once", selected("once"), true],
    ["allow always", selected("always"), true],
    ["reject", selected("no"), false],
    ["reject always", selected("never"), false],
    ["an option that was not offered", selected("other"), false],
    ["cancelled", { outcome: { outcome: "cancelled" } }, false],
    ["cancelled with an option", { outcome: { outcome: "cancelled", optionId: "once" } }, false],
    ["nothing", {}, false],
    ["something else", { outcome: "selected", optionId: "once" }, false],
  ])("%s", (_, answer, expected) => {
    expect(counts(ASKED, answer)).toBe(expected);
  });

  it.each<[agent: string, options: [name: string, kind: string][]]>([
    [
      "Claude Agent",
      [
        ["Always Allow all mcp__plugboard__docs__search", "allow_always"],
        ["Allow", "allow_once"],
        ["Reject", "reject_once"],
      ],
    ],
    [
      "codex-acp",
      [
        ["Allow", "allow_once"],
        ["Allow for this session", "allow_always"],
        ["Always allow", "allow_always"],
        ["Cancel", "reject_once"],
      ],
    ],
    [
      "Gemini CLI",
      [
        ["Allow all server tools for this session", "allow_always"],
        ["Allow tool for this session", "allow_always"],
        ["Allow tool for all future sessions", "allow_always"],
        ["Allow", "allow_once"],
        ["Reject", "reject_once"],
      ],
    ],
    [
      "OpenCode",
      [
        ["Allow once", "allow_once"],
        ["Always allow", "allow_always"],
        ["Reject", "reject_once"],
      ],
    ],
  ])("to the options of %s counts as their kinds say", (_, named) => {
    const options = named.map(([name, kind]) => ({ optionId: name, name, kind }));
    for (const [name, kind] of named) {
      expect(counts(ASKED, selected(name), options)).toBe(kind.startsWith("allow"));
    }
  });

  it.each<[string, JsonObject[]]>([
    ["a no of the kind of a yes", [{ name: "No, do not run it", kind: "allow_once" }]],
    ["a plain no of the kind of a yes", [{ name: "No", kind: "allow_once" }]],
    ["a yes once of the kind of a yes always", [{ name: "Allow once", kind: "allow_always" }]],
    ["words that are not in the list", [{ name: "Run it in a sandbox", kind: "allow_once" }]],
    ["no words", [{ kind: "allow_once" }]],
    ["an invisible character", [{ name: "Allow\u200b", kind: "allow_once" }]],
    ["always for another tool", [{ name: "Always allow docs__delete", kind: "allow_always" }]],
    ["an unknown kind", [{ name: "Allow", kind: "constructor" }]],
    ["words beside its name", [{ name: "Allow", kind: "allow_once", description: "Stops it." }]],
    [
      "words in its _meta",
      [{ name: "Allow", kind: "allow_once", _meta: { description: "Stops" } }],
    ],
    [
      "another option that says what to choose",
      [
        { name: "Yes", kind: "allow_once" },
        { optionId: "n", name: "Choose Yes to stop this", kind: "reject_once" },
      ],
    ],
  ])("to an option with %s does not count", (_, options) => {
    const withIds = options.map((option) => ({ optionId: "once", ...option }));
    expect(counts(ASKED, YES, withIds)).toBe(false);
  });

  it.each(["\ufffd", "\u00e9", 1])(
    "to an option does not count whose id may be that of another: %j",
    (id) => {
      const [yes, no] = [OPTIONS[0], OPTIONS[2]];
      const other = { "\ufffd": "\ud800", "\u00e9": "e\u0301", 1: "1" }[id];
      const options = [
        { ...yes, optionId: id },
        { ...no, optionId: other },
      ];
      expect(counts(ASKED, selected(id), options)).toBe(false);
    },
  );

  it.each<[string, unknown]>([
    [
      "an id that stands for yes and no",
      [...OPTIONS, { optionId: "once", name: "No", kind: "reject_once" }],
    ],
    ["no options", undefined],
    ["options that are not a list", "once"],
  ])("to %s does not count", (_, options) => {
    expect(counts(ASKED, YES, options ?? [])).toBe(false);
  });
});

describe("a permission", () => {
  it("is for one call", () => {
    const { given } = permissions();
    const request = question(ASKED);
    given.asked(request);
    given.answered(request, YES);
    // The same answer again is no second permission.
    given.answered(request, YES);
    expect([given.take(TOOL, ARGS), given.take(TOOL, ARGS)]).toEqual([true, false]);
  });

  it("two are for two calls", () => {
    const { given } = permissions();
    for (const toolCallId of ["1", "2"]) {
      const request = question({ ...ASKED, toolCallId });
      given.asked(request);
      given.answered(request, YES);
    }
    const calls = Array.from({ length: 3 }, () => given.take(TOOL, ARGS));
    expect(calls).toEqual([true, true, false]);
  });

  it("does not count without the client's answer, however the agent shows the call", () => {
    const { given } = permissions();
    given.saw({ toolCallId: "1", sessionUpdate: "tool_call", ...ASKED, status: "in_progress" });
    const request = question(ASKED);
    given.answered(request, YES);
    expect(given.take(TOOL, ARGS)).toBe(false);
    given.asked(request);
    expect(given.take(TOOL, ARGS)).toBe(false);
  });

  it("holds for a minute", async () => {
    const { given, clock } = permissions();
    for (const [wait, expected] of [
      [59_000, true],
      [61_000, false],
    ] as const) {
      const request = question(ASKED);
      given.asked(request);
      given.answered(request, YES);
      await clock.advance(wait);
      expect(given.take(TOOL, ARGS)).toBe(expected);
    }
  });

  it("ends with its prompt", () => {
    const { given } = permissions();
    const request = question(ASKED);
    given.asked(request);
    given.answered(request, YES);
    given.forget();
    expect(given.take(TOOL, ARGS)).toBe(false);
  });

  it.each<[string, JsonObject]>([
    ["other arguments", { rawInput: { query: "b" } }],
    ["no arguments", { rawInput: {} }],
    ["null in place of the arguments", { rawInput: null }],
    ["a text in place of the arguments", { rawInput: "x = harmless" }],
    ["another title", { title: "Nothing to see here" }],
    ["another tool", { title: "mcp__plugboard__docs__delete" }],
    ["other content", { content: [{ type: "diff", path: "/a", newText: "b" }] }],
  ])("does not count if the agent shows %s before the answer", (_, update) => {
    const { given } = permissions();
    const request = question(ASKED);
    given.asked(request);
    given.saw({ toolCallId: "1", ...update });
    given.answered(request, YES);
    expect([given.take(TOOL, ARGS), given.take("docs__delete", ARGS)]).toEqual([false, false]);
  });

  it.each<[string, JsonObject]>([
    ["its status", { status: "in_progress", title: ASKED.title }],
    // Claude Agent, whose question may overtake what it shows of the call.
    ["all of it once more", { ...ASKED, content: [] }],
  ])("still counts after an update of its call that changes nothing: %s", (_, update) => {
    const { given } = permissions();
    const request = question(ASKED);
    given.asked(request);
    given.saw({ toolCallId: "1", ...update });
    given.answered(request, YES);
    expect(given.take(TOOL, ARGS)).toBe(true);
  });

  it.each<[string, (given: GivenPermissions) => void]>([
    [
      "has shown too many other calls since",
      (given) => {
        for (let n = 0; n < 1000; n += 1) given.saw({ ...ASKED, toolCallId: `other ${n}` });
        given.saw({ toolCallId: "1", ...ASKED, title: "Nothing to see here" });
      },
    ],
    ["has shown what the client may read otherwise", (given) => given.lostTrack()],
  ])("does not count if the agent %s", (_, show) => {
    const { given } = permissions();
    const request = question(ASKED);
    given.asked(request);
    show(given);
    given.answered(request, YES);
    expect(given.take(TOOL, ARGS)).toBe(false);
  });

  it.each<[string, counted: boolean, (given: GivenPermissions) => void]>([
    [
      "only a title",
      true,
      (given) => given.saw({ toolCallId: "1", title: "Wait", status: "pending" }),
    ],
    [
      "content under another title",
      false,
      (given) =>
        given.saw({
          toolCallId: "1",
          title: "Lists files",
          content: [{ type: "content", content: { type: "text", text: "Lists files" } }],
        }),
    ],
    [
      "a harmless kind under another title",
      false,
      (given) => given.saw({ toolCallId: "1", title: "Lists files", kind: "read" }),
    ],
    [
      "a call that is forgotten by now",
      false,
      (given) => {
        given.saw({ toolCallId: "1", ...ASKED, rawOutput: "Nothing was changed." });
        for (let n = 0; n < 1000; n += 1) given.saw({ ...ASKED, toolCallId: `other ${n}` });
      },
    ],
    [
      "more calls of other tools than anybody keeps",
      false,
      (given) => {
        for (let n = 0; n < 30_000; n += 1) given.saw({ toolCallId: `own ${n}`, kind: "read" });
      },
    ],
    ["what the client may read otherwise", false, (given) => given.lostTrack()],
  ])("whose call was shown before, with %s: %s", (_, counted, show) => {
    const { given } = permissions();
    show(given);
    const request = question(ASKED);
    given.asked(request);
    given.answered(request, YES);
    expect(given.take(TOOL, ARGS)).toBe(counted);
  });

  it("is not kept without end", () => {
    const { given } = permissions();
    for (let n = 0; n < 1000; n += 1) {
      const request = question({ ...ASKED, toolCallId: String(n), rawInput: { n } });
      given.asked(request);
      given.answered(request, YES);
    }
    const kept = Array.from({ length: 1000 }, (_, n) => given.take(TOOL, { n })).filter(Boolean);
    expect(kept).toHaveLength(100);
  });
});

describe("the call that the agent shows", () => {
  it("is found by tool and arguments until it has ended", () => {
    const { given } = permissions();
    given.saw({ toolCallId: "old", ...ASKED });
    given.saw({ toolCallId: "new", ...ASKED, rawInput: { query: "b" } });
    expect(given.shownFor(TOOL, ARGS)).toBe("old");
    expect(given.shownFor(TOOL, { query: "c" })).toBeUndefined();
    // Which of two is meant cannot be told without the arguments.
    expect(given.shownFor(TOOL)).toBeUndefined();
    given.saw({ toolCallId: "old", status: "completed" });
    expect(given.shownFor(TOOL, ARGS)).toBeUndefined();
    expect(given.shownFor(TOOL)).toBe("new");
  });
});
