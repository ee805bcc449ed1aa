import { describe, expect, it } from "vitest";
import {
  describeDropped,
  faultOfId,
  faultOfRest,
  faultOfText,
  faultOfUnfinished,
  mayBeId,
} from "../../../../src/core/upstream/transport/dropped-line.ts";

const MESSAGE = '{"jsonrpc":"2.0","id":1,"result":{"n":1}}';

describe("a line that is not valid JSON", () => {
  it.each<[string, line: string, fault: string | undefined]>([
    [
      "a byte order mark",
      `\uFEFF${MESSAGE}`,
      "is not valid JSON, because it begins with a byte order mark",
    ],
    [
      "UTF-16",
      Buffer.from(MESSAGE, "utf16le").toString("utf8"),
      "is UTF-16, but messages are UTF-8",
    ],
    [
      "UTF-16 with the other order of bytes",
      Buffer.from(MESSAGE, "utf16le").swap16().toString("utf8"),
      "is UTF-16, but messages are UTF-8",
    ],
    [
      "NULs before it",
      `\0\0\0${MESSAGE}`,
      "is not valid JSON, because it begins with NUL characters",
    ],
    [
      "CR between messages",
      `${MESSAGE}\r${MESSAGE}`,
      "is not valid JSON, because it has CR between messages, which end with LF",
    ],
    ["NaN", '{"id":1,"result":{"n": NaN}}', "is not valid JSON, because it has NaN"],
    ["Infinity", '{"id":1,"result":[-Infinity]}', "is not valid JSON, because it has -Infinity"],
    ["NaN in a text", '{"id":1,"result":"NaN",}', undefined],
    ["a log line", "NaN: [, NaN]", undefined],
    ["a cut message", '{"id":1,', undefined],
  ])("%s", (_, line, fault) => {
    expect(faultOfText(line)).toBe(fault);
  });

  it("is looked at only at its beginning", () => {
    for (const part of ["\r", "[", " ", ":-", "{\r ", "\r ["]) {
      const text = `{${part.repeat(1_000_000)}`;
      expect(faultOfText(text)).toBe(faultOfText(text.slice(0, 2000)));
    }
  });
});

it.each<[id: string, may: boolean]>([
  ["0", true],
  ["7", true],
  ["1e400", false],
  ["-1", false],
  ["1.5", false],
  ['"7"', false],
  ["null", false],
])("a request may have the id %s: %s", (id, may) => {
  expect(mayBeId(JSON.parse(id))).toBe(may);
});

it.each<[string, text: string, fault: string | undefined]>([
  ["a message", '{"jsonrpc":"2.0","id":1,"resu', "breaks off"],
  ["a batch", '[{"jsonrpc":"2.0"', "breaks off"],
  ["a message with another fault", '{"n":NaN,', "is not valid JSON, because it has NaN"],
  ["a log line", "[info] bye", undefined],
])("the last text of all: %s", (_, text, fault) => {
  expect(faultOfRest(text)).toBe(fault);
});

it.each([
  [undefined, "answers no request, because it has no id"],
  [null, "answers no request, because it has no id"],
  ["seven", "answers no request, because its id is another text"],
  [{}, "answers no request, because its id is not a number"],
])("an answer with the id %j %s", (id, fault) => {
  expect(faultOfId(id)).toBe(fault);
});

it.each([
  [2048, `${MESSAGE}\r`, "ends with CR, but messages end with LF"],
  [2048, MESSAGE, "has no end yet, after 2 KiB"],
  [9, "a prompt\r", "has no end yet, after 9 B"],
])("a line of %i bytes that has not ended", (bytes, text, fault) => {
  expect(faultOfUnfinished(bytes, text)).toBe(fault);
});

it.each([
  [undefined, "on stdout it wrote text that is not MCP: x"],
  ["is odd", "on stdout it wrote a line that is odd: x"],
])("described with the fault %s", (fault, text) => {
  expect(describeDropped({ fault, shown: "x" })).toBe(text);
});
