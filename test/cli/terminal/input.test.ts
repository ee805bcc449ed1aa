// What is typed into a terminal, shown or not.

import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { askHidden, askLine } from "../../../src/cli/terminal/input.ts";
import { Screen } from "../../../src/cli/terminal/screen.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { Sink, terminal } from "../harness.ts";

/** A terminal that remembers when it passes keys as they are typed. */
function keyboard() {
  const raw: boolean[] = [];
  const setRawMode = (isRaw: boolean) => void raw.push(isRaw);
  return { raw, stdin: Object.assign(new PassThrough(), { isTTY: true, setRawMode }) };
}

/** Whom the questions are for. */
function asking(stdin: PassThrough, stderr = new Sink(), { signal } = new AbortController()) {
  const screen = new Screen(new Sink(), stderr, terminal(80), new ManualClock());
  return { io: { stdin, stderr }, screen, signal };
}

it("askLine has an empty answer to every question after the input has ended", async () => {
  const { stdin } = keyboard();
  const asked = asking(stdin);
  stdin.end("yes\n");
  expect(await askLine("first? ", asked)).toBe("yes");
  expect(await askLine("second? ", asked)).toBe("");
  expect(await askLine("third? ", asked)).toBe("");
});

describe("askHidden", () => {
  it.each([
    ["a line", ["sk-1\r"], "sk-1"],
    ["a line in pieces", ["sk", "-1", "\r"], "sk-1"],
    ["a pasted line", ["\u001b[200~sk-1\u001b[201~\r"], "sk-1"],
    ["a correction", ["sk-2\u007f1\b1\r"], "sk-1"],
    ["a line begun anew", ["wrong\u0015sk-1\r"], "sk-1"],
    ["arrow keys", ["sk\u001b[D-1\r"], "sk-1"],
    ["a piped line", ["sk-1\n"], "sk-1"],
    ["Ctrl-D", ["sk\u0004"], ""],
    ["no end", ["x".repeat(5000)], ""],
  ])("reads %s", async (_, chunks, expected) => {
    const { stdin, raw } = keyboard();
    const stderr = new Sink({ columns: 80 });
    const asked = askHidden("key: ", asking(stdin, stderr));
    for (const chunk of chunks) stdin.write(chunk);
    expect(await asked).toBe(expected);
    expect(stderr.text).toBe("key: \n");
    expect(raw).toEqual([true, false]);
  });

  it.each<[string, (stdin: PassThrough, ending: AbortController) => void]>([
    ["Ctrl-C", (stdin) => stdin.write("sk\u0003")],
    ["the end of the command", (_, ending) => ending.abort()],
  ])("is cancelled by %s, and the terminal is as before", async (_, cancel) => {
    const { stdin, raw } = keyboard();
    const ending = new AbortController();
    const asked = askHidden("key: ", asking(stdin, new Sink(), ending));
    cancel(stdin, ending);
    await expect(asked).rejects.toMatchObject({ code: "CANCELLED" });
    expect(raw).toEqual([true, false]);
  });
});
