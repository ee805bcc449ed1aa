import { describe, expect, it } from "vitest";
import { hasMoreValuesThan, JsonMeter, measureJson } from "../../src/util/measure-json.ts";

const NO_BOUND = { values: Infinity, depth: Infinity };

function measure(text: string, most = NO_BOUND): { values: number; depth: number } {
  return measureJson(Buffer.from(text), most);
}

describe("a JSON text has", () => {
  it.each([
    ["a scalar", "1", 1, 0],
    ["an object of three", '{"a":1,"b":2,"c":3}', 4, 1],
    ["a list in a list", "[[1,2],[3]]", 6, 2],
    ["brackets and commas in a text", '{"a":"[{,,,]}"}', 2, 1],
    ["a quote in a text", String.raw`["a\",\"b","[\\"]`, 3, 1],
    ["a long text", JSON.stringify(["x,[".repeat(100_000)]), 2, 1],
    ["a long text of quotes", JSON.stringify(['",['.repeat(100_000)]), 2, 1],
    ["a long text of backslashes", JSON.stringify(["\\".repeat(100_001), "\\,"]), 3, 1],
    [
      "a quote right after the short part of a text",
      JSON.stringify([`${"x".repeat(63)}",[`]),
      2,
      1,
    ],
    [
      "a backslash at the end of the short part of a text",
      JSON.stringify([`${"x".repeat(63)}\\",[`, 1]),
      3,
      1,
    ],
    ["letters of several bytes", JSON.stringify(["ü,[€".repeat(50)]), 2, 1],
    ["a text that never ends", '["abc,[', 2, 1],
  ])("%s", (_, text, values, depth) => {
    expect(measure(text)).toEqual({ values, depth });
    expect(measureJson(text, NO_BOUND)).toEqual({ values, depth });
  });

  it.each([1, 2, 3, 5, 63, 64, 65, 66, 1000])("the same in pieces of %d", (size) => {
    const texts = [
      String.raw`["a\",\"b","[\\"]`,
      JSON.stringify(['\\",['.repeat(60), { a: "\\".repeat(201), b: ["\\,", 1] }]),
      JSON.stringify([`${"x".repeat(63)}\\",[`, 1]),
      JSON.stringify(["ü,[€".repeat(50), 2]),
    ];
    for (const text of texts) {
      for (const whole of [text, Buffer.from(text)]) {
        const meter = new JsonMeter(NO_BOUND);
        for (let at = 0; at < whole.length; at += size) meter.push(whole.slice(at, at + size));
        expect({ values: meter.values, depth: meter.depth }).toEqual(measure(text));
      }
    }
  });
});

describe("measuring stops", () => {
  it("at the first value beyond the bound", () => {
    expect(measure(`[${"1,".repeat(1000)}1]`, { values: 10, depth: 5 }).values).toBe(11);
  });

  it("at the first level beyond the bound", () => {
    expect(measure("[".repeat(1000), { values: 2000, depth: 5 }).depth).toBe(6);
  });
});

describe("more values than so many has", () => {
  it.each([
    [3, "[1,2]", false],
    [3, "[1,2,3]", true],
    [3, '["1,2,3"]', false],
    [Infinity, "[1,2,3]", false],
  ])("%d: %s? %s", (most, text, expected) => {
    expect(hasMoreValuesThan(most, text)).toBe(expected);
    expect(hasMoreValuesThan(most, Buffer.from(text))).toBe(expected);
  });
});
