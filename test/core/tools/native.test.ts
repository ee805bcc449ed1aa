import { describe, expect, it } from "vitest";
import { collectNative, toUnified } from "../../../src/core/tools/native.ts";
import type { Execute, Present } from "../../../src/core/tools/tool.ts";
import type { CallOutcome, NativeTool, UpdateListener } from "../../../src/core/types/tool.ts";

const parameters = { type: "object" };

function native(name: string, more: Partial<NativeTool> = {}): NativeTool {
  return { name, description: "Does it.", parameters, execute: () => ({ content: [] }), ...more };
}

describe("collecting native tools", () => {
  it("takes tools and what makes them, in order", () => {
    const first = native("first");
    const second = native("second");
    const tools = collectNative([first, () => second], {});
    expect([...tools]).toEqual([
      ["first", first],
      ["second", second],
    ]);
  });

  it("tells a factory the board's workspace and leaves out what it does not make", () => {
    const contexts: object[] = [];
    const tools = collectNative(
      [
        (context) => {
          contexts.push(context);
          return undefined;
        },
      ],
      { workspaceDir: "/home/somebody/project" },
    );
    expect(tools.size).toBe(0);
    expect(contexts).toMatchObject([{ workspaceDir: "/home/somebody/project" }]);
  });

  it("tells a factory which names are taken by then", () => {
    const taken: boolean[] = [];
    const tools = collectNative(
      [
        native("first"),
        ({ has }) => {
          taken.push(has("first"), has("last"), has("toString"));
          return undefined;
        },
        native("last"),
      ],
      {},
    );
    expect(taken).toEqual([true, false, false]);
    expect(tools.size).toBe(2);
  });

  it.each(["a", "Read_file-2", "x".repeat(64), "toString"])("takes the name %s", (name) => {
    expect(collectNative([native(name)], {}).has(name)).toBe(true);
  });

  it.each(["", "1st", "_x", "a b", "a.b", "a/b", "é", "x".repeat(65), "a\n"])(
    "refuses the name %j",
    (name) => {
      expect(() => collectNative([native(name)], {})).toThrow(
        expect.objectContaining({
          code: "CONFIG_INVALID",
          message: `native tool name '${name}' must match ^[A-Za-z][A-Za-z0-9_-]{0,63}$`,
          problems: [expect.objectContaining({ path: "native" })],
        }),
      );
    },
  );

  it("refuses a name that stands twice", () => {
    expect(() => collectNative([native("same"), () => native("same")], {})).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        message: "native tool 'same' is given twice",
      }),
    );
  });
});

describe("a native tool", () => {
  const outcome: CallOutcome = { content: [{ type: "text", text: "done" }] };

  const present: Present = (given) => ({ content: given.content, details: given });

  function unify(tool: NativeTool, asRead: Present = present) {
    const calls: Parameters<Execute>[] = [];
    const execute: Execute = async (...call) => {
      calls.push(call);
      return outcome;
    };
    const unified = toUnified(tool, execute, asRead);
    return { unified, calls };
  }

  it("is a tool like any other", () => {
    const { unified } = unify(native("clock"));
    expect(unified).toEqual({
      name: "clock",
      label: "clock",
      description: "Does it.",
      parameters,
      source: { kind: "native" },
      execute: expect.any(Function),
    });
  });

  it("keeps what its author said of it", () => {
    const more = {
      label: "Clock",
      annotations: { readOnlyHint: true },
      outputSchema: { type: "object" },
      ownerOnly: true,
    };
    expect(unify(native("clock", more)).unified).toMatchObject(more);
  });

  it("is called through the board, never past it", async () => {
    const own = native("clock", {
      execute: () => {
        throw new Error("called past the board");
      },
    });
    const { unified, calls } = unify(own);
    expect(await unified.execute("id", { zone: "UTC" })).toEqual({ ...outcome, details: outcome });
    const { signal } = new AbortController();
    const onUpdate: UpdateListener = () => {};
    await unified.execute("id", {}, signal, onUpdate);
    expect(calls).toEqual([
      ["clock", { zone: "UTC" }, { callId: "id" }],
      ["clock", {}, { callId: "id", signal, onUpdate }],
    ]);
  });

  it("answers with what a model reads", async () => {
    const read = { content: [{ type: "text" as const, text: "cut" }] };
    const { unified } = unify(native("clock"), (given) => {
      expect(given).toBe(outcome);
      return read;
    });
    expect(await unified.execute("id", {})).toBe(read);
  });
});
