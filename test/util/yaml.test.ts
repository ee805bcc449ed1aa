import { expect, it } from "vitest";
import { parse } from "yaml";
import { toYaml } from "../../src/util/yaml.ts";

it.each([
  ["lines, the first of them indented", " a\nb: c\n"],
  ["a carriage return", "a\r\nb: c"],
  ["nothing but lines", "\n\n"],
  ["a line that looks like an item", "a\n- b"],
  ["what a reader of YAML 1.1 takes for the end of a line", "a: b\u2028c: \u0085d"],
  ["a comment, a tag, an alias", "# a !b *c &d"],
  ["quotes and backslashes", `"a" 'b' \\`],
  ["a number", "0x10"],
  ["a boolean", "off"],
])("is read as it was written: %s", (_, text) => {
  for (const version of ["1.1", "1.2"] as const) {
    const value = { before: text, [text]: [text, { in: text }], after: "x" };
    expect(parse(toYaml(value), { version })).toEqual(value);
  }
});
