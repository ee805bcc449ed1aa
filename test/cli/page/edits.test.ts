import { describe, expect, it } from "vitest";
import { otherDenials, type Verdict, withEntry, withRule } from "../../../src/cli/page/edits.ts";
import type { ServerText } from "../../../src/core/config/server-text.ts";

const servers = (text: string): ServerText => ({
  original: { file: "a.json", target: "a.json", text },
  text,
  place: ["mcpServers"],
  inherited: {},
});

const FILE = `{
  // The servers of the team.
  "mcpServers": {
    "docs": {
      "command": "docs", // found on PATH
      /* two of them */
      "args": ["a", "b"],
      "env": { "A": "1", "B": "2" }
    }
  }
}
`;

describe("an edit of an entry", () => {
  it("keeps comments and places, and touches only what differs", () => {
    const after = { command: "docs", args: ["a"], env: { A: "1", C: "3" }, lazy: true };
    expect(withEntry(servers(FILE), "docs", after)).toBe(`{
  // The servers of the team.
  "mcpServers": {
    "docs": {
      "command": "docs", // found on PATH
      /* two of them */
      "args": ["a"],
      "env": { "A": "1", "C": "3" },
      "lazy": true
    }
  }
}
`);
  });
});

describe("a rule for one tool", () => {
  it.each<[string, object, Verdict, object]>([
    ["refuses it", {}, "deny", { tools: { deny: ["wipe"] } }],
    ["is added to others", { tools: { deny: ["x"] } }, "deny", { tools: { deny: ["x", "wipe"] } }],
    [
      "asks, where it was refused",
      { tools: { deny: ["wipe"] } },
      "ask",
      { approval: { tools: { wipe: "ask" } } },
    ],
    [
      "allows it in a list that does not",
      { tools: { allow: ["read_*"], deny: ["wipe", "x"] }, approval: "ask" },
      "allow",
      {
        tools: { allow: ["read_*", "wipe"], deny: ["x"] },
        approval: { default: "ask", tools: { wipe: "never" } },
      },
    ],
    [
      "leaves a list alone that allows it already",
      { tools: { allow: ["w*"] }, approval: { tools: { x: "ask" } } },
      "ask",
      { tools: { allow: ["w*"] }, approval: { tools: { x: "ask", wipe: "ask" } } },
    ],
  ])("%s", (_, before, verdict, after) => {
    const text = JSON.stringify({ mcpServers: { docs: { command: "d", ...before } } });
    const written = JSON.parse(withRule(servers(text), "docs", "wipe", verdict)) as object;
    expect(written).toEqual({ mcpServers: { docs: { command: "d", ...after } } });
  });

  it.each(["*", "read_*", "@readOnly", "other/tool", "resource:x"])("cannot name %j", (tool) => {
    expect(() => withRule(servers(FILE), "docs", tool, "allow")).toThrow(
      "because of the characters",
    );
  });

  it("does not undo a pattern that refuses more than this tool, which is told", () => {
    const text = JSON.stringify({ mcpServers: { docs: { tools: { deny: ["w*", "wipe", "x"] } } } });
    expect(otherDenials(servers(text), "docs", "wipe")).toEqual(["w*"]);
  });
});
