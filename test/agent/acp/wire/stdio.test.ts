// The output, and lines on stdin that are longer than a message may be.

import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { boundLines, outputStream, TOO_LARGE } from "../../../../src/agent/acp/wire/stdio.ts";
import { claimStdout } from "../../../../src/cli/claim-stdout.ts";
import { Sink } from "../../../cli/harness.ts";

const MAX = 2 ** 20;
const LONG = "x".repeat(MAX);

/** Passes the input through in chunks of `size`. */
async function through(input: string, size = 4096): Promise<{ lines: string[]; dropped: number }> {
  let dropped = 0;
  const bytes = new TextEncoder().encode(input);
  const source = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) {
        controller.enqueue(bytes.subarray(at, at + size));
      }
      controller.close();
    },
  });
  const limit = boundLines({ maxBytes: MAX, onDropped: () => (dropped += 1) });
  let text = "";
  const decoder = new TextDecoder();
  for await (const part of source.pipeThrough(limit)) {
    text += decoder.decode(part, { stream: true });
  }
  return { lines: text.split("\n"), dropped };
}

describe("boundLines", () => {
  it.each([1, 3, 7, 4096])(
    "does not change lines within the limit, in chunks of %i",
    async (size) => {
      const input = '{"a":1}\n\n{"é":"ü"}\r\nlast';
      expect(await through(input, size)).toEqual({ lines: input.split("\n"), dropped: 0 });
    },
  );

  const refused = { code: -32600, message: expect.stringContaining("larger than 1 MiB") };
  const cases: [string, string, unknown][] = [
    [
      "a request is answered",
      `{"jsonrpc":"2.0","id":5,"method":"session/prompt","params":{"x":"${LONG}"}}`,
      { jsonrpc: "2.0", id: 5, method: TOO_LARGE },
    ],
    [
      "whatever its order, spaces and kind of id",
      ` { "method" : "m" , "id" : "a-b" , "params" : ["${LONG}"] }`,
      { jsonrpc: "2.0", id: "a-b", method: TOO_LARGE },
    ],
    [
      "an answer becomes a failure",
      `{"jsonrpc":"2.0","id":7,"result":{"content":"${LONG}"}}`,
      { jsonrpc: "2.0", id: 7, error: refused },
    ],
    ["one whose id comes too late is no request", `{"params":"${LONG}","id":7}`, null],
    ["nor is what has no id", `{"jsonrpc":"2.0","method":"m","params":{"id":"${LONG}"}}`, null],
    ["nor what is no JSON", LONG.repeat(3), null],
    ["nor an id that is no number", `{"id":00,"method":"m","params":"${LONG}"}`, null],
    ["nor an id that is no text", `{"id":"a\tb","method":"m","params":"${LONG}"}`, null],
    ["nor an id that is none", `{"id":"${LONG}","method":"m"}`, null],
  ];
  it.each(cases)("replaces a line that is too long: %s", async (_, line, expected) => {
    const { lines, dropped } = await through(`first\n${line}\nlast\n${line}`);
    expect(dropped).toBe(2);
    expect([lines[0], lines[2], lines[4]]).toEqual(["first", "last", ""]);
    expect(JSON.parse(lines[1] ?? "")).toEqual(expected);
    expect(lines[3]).toBe(lines[1]);
  });
});

describe("the output", () => {
  it("rejects a write when nobody reads any more", async () => {
    const broken = new Writable({ write: (_, __, done) => done(new Error("gone")) });
    broken.on("error", () => {});
    const writer = outputStream(claimStdout(broken, new Sink())).getWriter();
    writer.closed.catch(() => {});
    await expect(writer.write(new Uint8Array(1))).rejects.toThrow("gone");
  });
});
