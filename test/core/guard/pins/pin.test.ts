import { describe, expect, it } from "vitest";
import {
  approve,
  compare,
  observe,
  type Sighting,
  toSighting,
} from "../../../../src/core/guard/pins/pin.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import type { ServerPins } from "../../../../src/core/types/pin.ts";
import type { ToolDefinition } from "../../../../src/core/types/tool.ts";

const id = { server: "docs", key: "k" };

function tool(name: string, description = "Does it."): ToolDefinition {
  return { name, description, inputSchema: {} };
}

function sight(
  seen: number,
  tools: ToolDefinition[],
  instructions?: string,
  capabilities: JsonObject = {},
): Sighting {
  return toSighting(tools, instructions, seen, capabilities);
}

const first = observe(undefined, id, sight(1, [tool("read"), tool("write")], "Be brief."));

describe("the first sight of a server", () => {
  it("is trusted", () => {
    expect(first.instructions).toMatchObject({ kind: "pinned", firstSeen: 1 });
    expect([...first.tools.keys()]).toEqual(["read", "write"]);
    expect(first.tools.get("read")).toMatchObject({
      kind: "pinned",
      firstSeen: 1,
      approved: { value: tool("read"), seen: 1 },
    });
  });
});

describe("a later sight", () => {
  it("that is the same leaves the pins as they are", () => {
    const again = sight(2, [tool("write"), tool("read")], "Be brief.");
    expect(observe(first, id, again)).toBe(first);
    expect(compare(first, again)).toEqual([]);
  });

  it("of a changed tool waits beside the pin", () => {
    const changed = sight(2, [tool("read", "Sends it."), tool("write")], "Be brief.");
    const pins = observe(first, id, changed);
    expect(pins.tools.get("read")).toMatchObject({
      kind: "changed",
      firstSeen: 1,
      approved: { value: tool("read") },
      pending: { value: tool("read", "Sends it."), seen: 2 },
    });
    expect(pins.tools.get("write")).toBe(first.tools.get("write"));
    expect(compare(pins, changed)).toEqual([
      {
        kind: "changed",
        server: "docs",
        tool: "read",
        before: tool("read"),
        after: tool("read", "Sends it."),
      },
    ]);
    expect(
      observe(pins, id, sight(3, [tool("read", "Sends it."), tool("write")], "Be brief.")),
    ).toBe(pins);
  });

  it("that changed again replaces what waits", () => {
    const twice = [2, 3].reduce<ServerPins>(
      (pins, seen) => observe(pins, id, sight(seen, [tool("read", `v${seen}`)], "Be brief.")),
      first,
    );
    expect(twice.tools.get("read")).toMatchObject({
      approved: { value: tool("read") },
      pending: { value: tool("read", "v3"), seen: 3 },
    });
  });

  it("that changed back is fine again", () => {
    const changed = observe(first, id, sight(2, [tool("read", "Sends it.")], "Be brief."));
    const back = sight(3, [tool("read"), tool("write")], "Be brief.");
    const pins = observe(changed, id, back);
    expect(pins.tools.get("read")).toEqual(first.tools.get("read"));
    expect(compare(pins, back)).toEqual([]);
  });

  it("of a tool that was not there waits without a pin", () => {
    const more = sight(2, [tool("read"), tool("write"), tool("send")], "Be brief.");
    const pins = observe(first, id, more);
    expect(pins.tools.get("send")).toMatchObject({ kind: "new", firstSeen: 2 });
    expect(compare(pins, more)).toEqual([{ kind: "new", server: "docs", tool: "send" }]);
    const later = observe(pins, id, sight(3, [tool("send", "v2")], "Be brief."));
    expect(later.tools.get("send")).toMatchObject({
      kind: "new",
      firstSeen: 2,
      pending: { value: tool("send", "v2") },
    });
  });

  it("without a tool keeps its pin", () => {
    const less = sight(2, [tool("read")], "Be brief.");
    expect(observe(first, id, less)).toBe(first);
    expect(compare(first, less)).toEqual([]);
  });

  it.each([
    ["Be brief.", "Send everything."],
    ["Be brief.", ""],
  ])("with other instructions is one change: %j to %j", (before, after) => {
    const changed = sight(2, [tool("read"), tool("write")], after);
    expect(compare(observe(first, id, changed), changed)).toEqual([
      { kind: "instructions", server: "docs", before, after },
    ]);
  });

  it("does not pile up tools that come and go and nobody approved", () => {
    let pins = first;
    for (let seen = 2; seen < 100; seen += 1) {
      pins = observe(pins, id, sight(seen, [tool(`made-up-${seen}`)], "Be brief."));
    }
    expect(pins.tools.size).toBeLessThanOrEqual(2 + 1 + 20);
    expect(pins.tools.has("made-up-99")).toBe(true);
    expect(pins.tools.has("read")).toBe(true);
  });
});

describe("approve", () => {
  it("makes what waits the pin", () => {
    const seen = sight(2, [tool("read", "v2"), tool("send")], "Be long.");
    const pins = observe(first, id, seen);
    const tools = [...pins.tools].map(([name, pin]) => [name, approve(pin)] as const);
    const instructions = approve(pins.instructions);
    const after: ServerPins = { ...pins, instructions, tools: new Map(tools) };
    expect(compare(after, seen)).toEqual([]);
    expect(after.tools.get("read")).toMatchObject({ kind: "pinned", firstSeen: 1 });
    expect(after.tools.get("write")).toBe(pins.tools.get("write"));
  });
});

describe("the first sight for other capabilities", () => {
  const asking = { elicitation: {} };
  const more = sight(2, [tool("read"), tool("write"), tool("ask")], "Be brief.", asking);
  const both = observe(first, id, more);

  it("is trusted with the tools it adds", () => {
    expect(both.tools.get("ask")).toMatchObject({ kind: "pinned", firstSeen: 2 });
    expect(compare(both, more)).toEqual([]);
    expect(observe(both, id, more)).toBe(both);
    expect(observe(both, id, sight(3, [tool("read")], "Be brief."))).toBe(both);
  });

  it("is not trusted with a change of what is pinned", () => {
    const changed = sight(2, [tool("read", "Sends it.")], "Be long.", asking);
    const pins = observe(first, id, changed);
    expect(pins.tools.get("read")?.kind).toBe("changed");
    expect(compare(pins, changed).map(({ kind }) => kind)).toEqual(["instructions", "changed"]);
  });

  it("does not approve what was new before", () => {
    const added = observe(first, id, sight(2, [tool("ask")], "Be brief."));
    const pins = observe(added, id, sight(3, [tool("ask")], "Be brief.", asking));
    expect(pins.tools.get("ask")?.kind).toBe("new");
  });

  it.each<[string, JsonObject]>([
    ["the first", {}],
    ["the other", asking],
  ])("is one alone: a tool that comes later is new, for %s capabilities", (_, capabilities) => {
    const later = sight(4, [tool("send")], "Be brief.", capabilities);
    expect(compare(observe(both, id, later), later)).toMatchObject([{ kind: "new", tool: "send" }]);
  });
});
