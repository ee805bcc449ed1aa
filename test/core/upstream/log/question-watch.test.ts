import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import {
  type Question,
  watchForQuestion,
} from "../../../../src/core/upstream/log/question-watch.ts";
import { ManualClock, settle } from "../../../support/manual-clock.ts";

function setUp() {
  const clock = new ManualClock();
  const outputs = [new PassThrough(), new PassThrough()] as const;
  const asked: Question[] = [];
  const end = watchForQuestion(outputs, clock, (question) => asked.push(question));
  async function write(which: 0 | 1, ...chunks: string[]): Promise<void> {
    for (const chunk of chunks) {
      outputs[which].write(chunk);
      await settle();
    }
  }
  return { clock, asked, end, write };
}

describe("a starting server", () => {
  it.each<[string, string[]]>([
    ["asks", ["Ok to proceed? (y) "]],
    ["asks after other lines", ["one\ntwo\nOk to proceed? (y) "]],
    ["asks in parts", ["Ok to ", "proceed? ", "(y) "]],
    ["asks in colour", ["\u001b[1mOk to proceed? (y)\u001b[0m "]],
    ["asks in a line of its own", ["Ok to proceed? (y)\n"]],
  ])("%s, and is silent after it", async (_, chunks) => {
    for (const which of [0, 1] as const) {
      const { clock, asked, write } = setUp();
      await write(which, ...chunks);
      expect(asked).toEqual([]);
      await clock.advance(300);
      expect(asked.map(({ text }) => text.trim())).toEqual(["Ok to proceed? (y)"]);
      await write(which, "\nOk to proceed? (y) ");
      await clock.advance(300);
      expect(asked).toHaveLength(1);
    }
  });

  it.each<[string, string[]]>([
    ["goes on", ["Ok to proceed? (y) ", "yes, of course\n"]],
    ["prints a banner", ["Welcome to the server!\n"]],
    ["sends half a message", ['{"jsonrpc":"2.0","result":"Ok to proceed? (y)']],
    ["sends half a batch", ['[{"jsonrpc":"2.0","result":"Ok to proceed? (y)']],
    ["sends a long line", [`${"x".repeat(5000)} Ok to proceed? (y)`]],
  ])("that %s asks nothing", async (_, chunks) => {
    const { clock, asked, write } = setUp();
    await write(0, ...chunks);
    await clock.advance(10_000);
    expect(asked).toEqual([]);
  });

  it("may write to the other stream meanwhile", async () => {
    const { clock, asked, write } = setUp();
    await write(0, "Ok to proceed? (y) ");
    await write(1, "tick\n");
    await clock.advance(300);
    expect(asked).toHaveLength(1);
  });

  it("is not watched after the end", async () => {
    const { clock, asked, end, write } = setUp();
    await write(0, "Ok to proceed? (y) ");
    end();
    await write(1, "Ok to proceed? (y) ");
    await clock.advance(300);
    expect(asked).toEqual([]);
  });
});
