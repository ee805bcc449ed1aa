import type { ModelMessage, ToolModelMessage, ToolResultPart } from "ai";
import { describe, expect, it } from "vitest";
import { compact, totalSize } from "../../../src/agent/loop/compact.ts";
import { byteSize } from "../../../src/util/text.ts";

const user = (content: string): ModelMessage => ({ role: "user", content });

function results(...given: ToolResultPart["output"][]): ToolModelMessage {
  return {
    role: "tool",
    content: given.map((output, index) => ({
      type: "tool-result",
      toolCallId: `c${index}`,
      toolName: `t${index}`,
      output,
    })),
  };
}

const text = (value: string): ToolResultPart["output"] => ({ type: "text", value });
const long = "x".repeat(5000);

function outputs(message: ModelMessage | undefined): ToolResultPart["output"][] {
  const content = message?.role === "tool" ? message.content : [];
  return content.flatMap((part) => (part.type === "tool-result" ? part.output : []));
}

describe("making room", () => {
  it("changes nothing where there is enough", () => {
    const messages = [user("a"), results(text(long)), user("b")];
    expect(compact({ messages, turnStart: 2 }, 1_000_000)).toEqual({
      messages,
      turnStart: 2,
      results: 0,
      dropped: 0,
    });
  });

  it("takes no more results than it must, and no short ones", () => {
    const messages = [user("a"), results(text("short")), results(text(long)), results(text(long))];
    const budget = totalSize(messages) - 1000;
    const made = compact({ messages: [...messages, results(text("new"))], turnStart: 0 }, budget);
    expect(made).toMatchObject({ results: 1, dropped: 0 });
    expect(made.messages[1]).toEqual(messages[1]);
    expect(outputs(made.messages[2])).toEqual([
      text(
        "[The result of t0, 4.9 KiB, has been left out to make room. Call the tool again if it is needed.]",
      ),
    ]);
    expect(made.messages[3]).toBe(messages[3]);
  });

  it("takes all results of earlier turns before any of their words", () => {
    const messages = [user("a"), results(text(long)), user("b")];
    const made = compact({ messages, turnStart: 2 }, 1000);
    expect(made).toMatchObject({ results: 1, dropped: 0 });
  });

  it("drops whole turns, and keeps count of where this one begins", () => {
    const messages = [
      user(long),
      user("b"),
      { role: "assistant" as const, content: "c" },
      user("d"),
    ];
    const made = compact({ messages, turnStart: 3 }, 1000);
    expect(made).toMatchObject({ turnStart: 3, dropped: 1 });
    expect(made.messages.slice(1)).toEqual(messages.slice(1));
    const again = compact(made, 0);
    expect(again).toMatchObject({ turnStart: 1, dropped: 2 });
    expect(again.messages).toHaveLength(2);
  });

  it("says of a result that it cuts again how much is gone in all", () => {
    const value = "é".repeat(20_000) + "end".repeat(400);
    let made = compact({ messages: [user("a"), results(text(value))], turnStart: 0 }, 10_000);
    for (const budget of [10_000, 9900, 4000]) {
      made = compact(made, budget);
      const [output] = outputs(made.messages[1]);
      const { value: left } = output as { value: string };
      const [whole = "", size = ""] =
        /\[… ([\d.]+ KiB) have been left out to make room …\]/.exec(left) ?? [];
      const kept = left.replace(`…\n${whole}\n`, "");
      expect(size).toBe(byteSize(Buffer.byteLength(value) - Buffer.byteLength(kept)));
      expect(value.startsWith(kept.slice(0, -600))).toBe(true);
      expect(left.match(/left out/g)).toHaveLength(1);
    }
  });

  it("cuts the newest results by the same share, their media into words", () => {
    const image = { type: "image-data" as const, data: long, mediaType: "image/png" };
    const messages = [
      user("a"),
      results(
        text(long),
        { type: "error-text", value: long },
        { type: "content", value: [{ type: "text", text: "seen" }, image] },
        { type: "json", value: { long } },
        text("short"),
      ),
    ];
    const made = compact({ messages, turnStart: 0 }, 10_000);
    expect(made.results).toBe(4);
    const [first, second, third, fourth, fifth] = outputs(made.messages[1]);
    for (const [output, type] of [
      [first, "text"],
      [second, "error-text"],
      [fourth, "text"],
    ] as const) {
      expect(output).toMatchObject({ type, value: expect.stringContaining("have been left out") });
    }
    expect(third).toEqual(text("seen\n[image-data, left out to make room]"));
    expect(fifth).toEqual(text("short"));
  });
});
