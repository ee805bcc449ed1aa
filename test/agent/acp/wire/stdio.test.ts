// The output, and lines on stdin that are longer than a message may be.

import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { boundLines, outputStream, REFUSED } from "../../../../src/agent/acp/wire/stdio.ts";
import { claimStdout } from "../../../../src/cli/claim-stdout.ts";
import { Sink } from "../../../cli/harness.ts";

const MAX = 2 ** 20;
const LONG = "x".repeat(MAX);

/** Passes the input through in chunks of `size`. */
async function through(
  input: string,
  size = 4096,
): Promise<{ lines: string[]; dropped: string[] }> {
  const dropped: string[] = [];
  const bytes = new TextEncoder().encode(input);
  const source = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) {
        controller.enqueue(bytes.subarray(at, at + size));
      }
      controller.close();
    },
  });
  const limit = boundLines({ maxBytes: MAX, onDropped: (reason) => dropped.push(reason) });
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
      expect(await through(input, size)).toEqual({ lines: input.split("\n"), dropped: [] });
    },
  );

  const refused = { code: -32600, message: expect.stringContaining("larger than 1 MiB") };
  const cases: [string, string, unknown][] = [
    [
      "a request is answered",
      `{"jsonrpc":"2.0","id":5,"method":"session/prompt","params":{"x":"${LONG}"}}`,
      { jsonrpc: "2.0", id: 5, method: REFUSED, params: refused },
    ],
    [
      "whatever its order, spaces and kind of id",
      ` { "method" : "m" , "id" : "a-b" , "params" : ["${LONG}"] }`,
      { jsonrpc: "2.0", id: "a-b", method: REFUSED, params: refused },
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
    ["nor an id that is too long", `{"id":"${LONG}","method":"m"}`, null],
  ];
  it.each(cases)("replaces a line that is too long: %s", async (_, line, expected) => {
    const { lines, dropped } = await through(`first\n${line}\nlast\n${line}`);
    expect(dropped).toHaveLength(2);
    expect([lines.length, lines[0], lines[2]]).toEqual([4, "first", "last"]);
    expect(JSON.parse(lines[1] ?? "")).toEqual(expected);
    expect(lines[3]).toBe(lines[1]);
  });
});

describe("a line within the limit", () => {
  const list = (items: number): string => `[${"0,".repeat(items - 1)}0]`;
  const levels = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
  const request = (x: string): string =>
    `{"jsonrpc":"2.0","id":5,"method":"m","params":{"x":${x}}}`;

  it.each<[string, string]>([
    ["many values", request(list(200_000))],
    ["many levels", request(levels(998))],
    ["all that looks like values in one text", request(JSON.stringify("[{,".repeat(300_000)))],
  ])("passes with %s", async (_, line) => {
    expect(await through(line)).toEqual({ lines: [line], dropped: [] });
  });

  const values =
    "the message has more than 250000 values; send fewer at once, or all of them as one text";
  const depth = "the message is nested more than 1000 levels deep";
  it.each<[string, string, string, object | null]>([
    ["too many values", request(list(300_000)), values, { id: 5, method: REFUSED }],
    ["too many levels", request(levels(3000)), depth, { id: 5, method: REFUSED }],
    [
      "its id at the end",
      `{"method":"m","params":{"id":1,"x":${levels(3000)}},"jsonrpc":"2.0", "id" : "é" }`,
      depth,
      { id: "é", method: REFUSED },
    ],
    [
      "an id within its parameters alone",
      `{"method":"m","params":[${levels(3000)},{"a":1,"id":2}]}`,
      depth,
      null,
    ],
    ["a result", `{"jsonrpc":"2.0","id":6,"result":${list(300_000)}}`, values, { id: 6 }],
  ])("is replaced if it has %s", async (_, line, reason, expected) => {
    const { lines, dropped } = await through(`${line}\n`);
    expect(dropped).toEqual([reason]);
    const why = { code: -32600, message: reason };
    const told = expected && ("method" in expected ? { params: why } : { error: why });
    expect(JSON.parse(lines[0] ?? "")).toEqual(
      expected && { jsonrpc: "2.0", ...expected, ...told },
    );
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
