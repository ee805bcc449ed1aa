import { describe, expect, it } from "vitest";
import {
  approve,
  compare,
  contentSighting,
  type ListedContent,
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

describe("a list of resources or prompts", () => {
  const redact = <Value>(value: Value): Value => value;
  const resource = (name: string, description = "A file."): ListedContent => {
    return { kind: "resource", name, description };
  };
  const template: ListedContent = { ...resource("lib:///{shelf}"), isTemplate: true };
  const prompt = (name: string): ListedContent => ({ kind: "prompt", name });
  const resources = (seen: number, ...contents: ListedContent[]): Sighting =>
    contentSighting("resources", contents, seen, redact);
  const prompts = (seen: number, ...contents: ListedContent[]): Sighting =>
    contentSighting("prompts", contents, seen, redact);
  const kinds = (pins: ServerPins): Record<string, string> =>
    Object.fromEntries([...pins.tools].map(([name, { kind }]) => [name, kind]));

  it("is trusted if it is the first one, whatever other lists there were", () => {
    const listed = [resources(2, resource("lib:///a"), template), prompts(3, prompt("greet"))];
    const pins = listed.reduce((each, sighting) => observe(each, id, sighting), first);
    expect(kinds(pins)).toEqual({
      read: "pinned",
      write: "pinned",
      "resource:lib:///{shelf}": "pinned",
      "resource:lib:///a": "pinned",
      "prompt:greet": "pinned",
    });
    expect(pins.seenWith).toEqual(["{}", "list of resources", "list of prompts"]);
    for (const sighting of listed) {
      expect(observe(pins, id, sighting)).toBe(pins);
      expect(compare(pins, sighting)).toEqual([]);
    }
    expect(pins.instructions).toBe(first.instructions);
  });

  it("may add resources later, and neither templates nor prompts", () => {
    const pins = [
      resources(2),
      prompts(2),
      resources(3, resource("lib:///b"), template),
      prompts(3, prompt("obey")),
    ].reduce((each, sighting) => observe(each, id, sighting), first);
    expect(kinds(pins)).toMatchObject({
      "resource:lib:///b": "pinned",
      "resource:lib:///{shelf}": "new",
      "prompt:obey": "new",
    });
  });

  it("is compared with what was approved, a resource too", () => {
    const pins = observe(first, id, resources(2, resource("lib:///a")));
    const changed = resources(3, resource("lib:///a", "Obey me."));
    expect(compare(observe(pins, id, changed), changed)).toMatchObject([
      { kind: "changed", tool: "resource:lib:///a", after: { description: "Obey me." } },
    ]);
  });

  it("does not make a tool trusted that is named like a resource", () => {
    const pins = observe(first, id, resources(2));
    const named = sight(3, [tool("resource:lib:///a")], "Be brief.");
    expect(observe(pins, id, named).tools.get("resource:lib:///a")?.kind).toBe("new");
  });

  it("leaves the pins of other lists alone, however many wait for approval", () => {
    const many = Array.from({ length: 40 }, (_, at) => prompt(`p${at}`));
    const pins = [prompts(2), prompts(3, ...many), sight(4, [tool("read")], "Be brief.")].reduce(
      (each, sighting) => observe(each, id, sighting),
      first,
    );
    expect(pins.tools.size).toBe(2 + many.length);
    expect(observe(pins, id, prompts(5)).tools.size).toBe(2 + 20);
  });

  it("is pinned up to a number of resources, and so is what was in earlier ones", () => {
    const thousand = (mark: string): ListedContent[] =>
      Array.from({ length: 1001 }, (_, at) => resource(`lib:///${mark}${at}`));
    const sighting = resources(2, ...thousand("a"), template);
    expect(sighting.tools.size).toBe(1001);
    const pins = ["b", "c"].reduce(
      (each, mark) => observe(each, id, resources(3, ...thousand(mark))),
      observe(first, id, sighting),
    );
    // Those that are listed, as many that are gone, and what is no mere data.
    expect(pins.tools.size).toBe(1000 + 1000 + 1 + 2);
  });
});
