// Conversations that outgrow the model, over the wire.

import { describe, expect, it } from "vitest";
import type { Turn } from "../../support/model/start.mjs";
import { closeModels, only, rig, tool } from "./rig.ts";

closeModels();

/** Tokens. The scripted model counts one for every four characters. */
const WINDOW = 10_000;
const big = tool("big", ({ n }) => `${String(n)} ${"lorem ipsum ".repeat(800)} END`);
const call = (n: number): Turn => ({ toolCalls: [{ name: "big", arguments: { n } }] });

describe("a conversation that outgrows the window", () => {
  it("loses its oldest tool results first, each for a note", async () => {
    const turns = [1, 2, 3, 4, 5].map(call);
    const { run, model } = await rig([...turns, { text: "done" }], "anthropic", WINDOW);
    const { end, events } = await run({ tools: () => [big] });
    expect(end).toEqual({ reason: "end_turn" });
    expect(only(events, "compaction").length).toBeGreaterThan(0);
    const results = model.requests.at(-1)?.toolResults.map(({ text }) => text) ?? [];
    expect(results).toHaveLength(5);
    expect(results[0]).toMatch(
      /^\[The result of big, 9\.\d KiB, has been left out to make room\. Call the tool again/,
    );
    expect(results[4]).toMatch(/^5 lorem/);
    for (const { body } of model.requests) {
      expect(JSON.stringify(body).length / 4).toBeLessThan(WINDOW);
    }
  });

  it("loses its oldest turns, and never what is being asked", async () => {
    const { run, model } = await rig([{ text: "ok" }], "anthropic", WINDOW);
    const history = Array.from({ length: 10 }, (_, index) => [
      { role: "user" as const, content: `question ${index} ${"x".repeat(5000)}` },
      { role: "assistant" as const, content: `answer ${index}` },
    ]).flat();
    const result = await run({ history });
    expect(only(result.events, "compaction")).toMatchObject([{ results: 0, messages: 12 }]);
    const said = model.requests[0]?.messages.map(({ text }) => text.slice(0, 10)) ?? [];
    expect(said[0]).toContain("[The begin");
    expect(said.at(-1)).toContain("hello");
    expect(result.history).toHaveLength(11);
  });

  it("first loses its context, if that makes room", async () => {
    const said = { role: "user" as const, content: "x".repeat(28_000) };
    const { run, model } = await rig([{ text: "ok" }], "anthropic", WINDOW);
    const history = [said, { role: "assistant" as const, content: "noted" }];
    const context = ["R".repeat(3900), "N".repeat(1500)];
    const { events } = await run({ history, context });
    const sent = JSON.stringify(model.requests[0]?.body);
    expect([sent.includes("RRR"), sent.includes("NNN"), sent.includes("xxx")]).toEqual([
      false,
      true,
      true,
    ]);
    expect(only(events, "compaction")).toEqual([]);
    expect(only(events, "notice").map(({ text }) => text)).toEqual([
      expect.stringContaining("resources"),
    ]);
  });

  it("keeps its context as long as there is room", async () => {
    const { run, model } = await rig([{ text: "ok" }], "anthropic", WINDOW);
    const { events } = await run({ context: ["R".repeat(3900), "N".repeat(1500)] });
    expect(JSON.stringify(model.requests[0]?.body)).toContain("RRR");
    expect(only(events, "notice")).toEqual([]);
  });

  it("has its newest results cut where nothing else can go, and keeps their ends", async () => {
    const huge = tool("huge", () => `BEGIN ${"x".repeat(100_000)} END`);
    const fine = tool("fine", () => "small");
    const { run, model } = await rig(
      [
        {
          toolCalls: [
            { name: "huge", arguments: {} },
            { name: "fine", arguments: {} },
          ],
        },
        { text: "ok" },
      ],
      "openai-compatible",
      WINDOW,
    );
    expect((await run({ tools: () => [huge, fine] })).end).toEqual({ reason: "end_turn" });
    const [cut, whole] = model.requests[1]?.toolResults ?? [];
    expect(cut?.text.replaceAll(/x+/g, "x")).toMatch(
      /^BEGIN x…\n\[… 7\d(\.\d)? KiB have been left out to make room …\]\nx END$/,
    );
    expect(whole?.text).toBe("small");
  });

  it("is measured by what the model says that it has read", async () => {
    const dense = { ...call(1), usage: { input: 9000, output: 1 } };
    const { run, model } = await rig([call(0), dense, { text: "ok" }], "anthropic", WINDOW);
    const { events } = await run({ tools: () => [big] });
    expect(only(events, "compaction")).toHaveLength(1);
    expect(model.requests[2]?.toolResults[0]?.text).toContain("left out");
  });

  it("does not count the bytes of images", async () => {
    const data = `iVBORw0KGgo${"A".repeat(80_001)}`;
    const { run } = await rig([{ text: "ok" }], "anthropic", WINDOW);
    const { events } = await run({ prompt: [{ type: "image", data, mimeType: "image/png" }] });
    expect(only(events, "compaction")).toEqual([]);
  });
});

describe("a request that is refused for its size", () => {
  const refuse = (status: number) => (request: { body: object }) =>
    JSON.stringify(request.body).length > 20_000
      ? { error: { status, message: "too long" } }
      : { text: "fits" };

  it.each([413, 400])("is made smaller and sent again: %i", async (status) => {
    const { run } = await rig(
      (request, index) => (index < 3 ? call(index) : refuse(status)(request)),
      "anthropic",
      20_000,
    );
    const { end, events, text } = await run({ tools: () => [big] });
    expect(end).toEqual({ reason: "end_turn" });
    expect(text).toBe("fits");
    expect(only(events, "compaction").length).toBeGreaterThan(0);
  });

  it("fails where there is nothing to leave out", async () => {
    const { run, model } = await rig(() => ({ error: { status: 413, message: "too long" } }));
    expect((await run()).end).toMatchObject({ reason: "failed", error: { status: 413 } });
    expect(model.requests).toHaveLength(1);
  });

  const history = Array.from({ length: 6 }, (_, index) => [
    { role: "user" as const, content: `question ${index} ${"x".repeat(3000)}` },
    { role: "assistant" as const, content: `answer ${index}` },
  ]).flat();

  it("is whole again where its size proves not to be the reason, and nothing is said to be left out", async () => {
    const refusal = { error: { status: 400, message: "no such parameter" } };
    const { run, model } = await rig(() => refusal, "anthropic", WINDOW);
    const { end, events, history: kept } = await run({ history });
    expect(end).toMatchObject({ reason: "failed", error: { status: 400 } });
    expect(model.requests.length).toBeGreaterThan(1);
    expect(only(events, "compaction")).toEqual([]);
    expect(kept).toEqual([...history, expect.objectContaining({ role: "user" })]);
  });

  it("stays small where the model says that it is too large, and that is told once", async () => {
    const refusal = { error: { status: 413, message: "too long" } };
    const { run } = await rig(() => refusal, "anthropic", WINDOW);
    const { events, history: kept } = await run({ history });
    expect(only(events, "compaction")).toMatchObject([{ results: 0, messages: 12 }]);
    expect(kept).toHaveLength(2);
  });

  it("fails where it was not large at all", async () => {
    const { run, model } = await rig([call(1), { error: { status: 400, message: "bad" } }]);
    const { end } = await run({ tools: () => [big] });
    expect(end).toMatchObject({ reason: "failed", error: { status: 400 } });
    expect(model.requests).toHaveLength(2);
  });
});
