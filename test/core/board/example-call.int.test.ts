import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { exampleCall } from "../../../src/core/board/example-call.ts";
import { shellQuoted } from "../../../src/util/text.ts";

describe("an example of a call, pasted into a shell", () => {
  it("arrives word for word, whatever the names and values are", async () => {
    const values = [
      "a b",
      "it's",
      '"x"',
      "$HOME",
      "`id`",
      "!!",
      "~",
      "*",
      "a\\b",
      "a;b",
      "a\nb",
      "#",
      "größe",
    ];
    const names = ["two words", "it's", "a.b", "a=b", "$x", "a;b", "*", "{", "-x", "größe"];
    const parts = values.map((each, at) => [`p${at}`, { const: each }]);
    const properties = Object.fromEntries([...parts, ...names.map((each) => [each, { const: 1 }])]);
    const schemas = Object.entries(properties).map(([name, part]) => ({
      type: "object",
      properties: { [name]: part },
      required: [name],
    }));
    const examples = await Promise.all(schemas.map((schema) => exampleCall(schema)));
    const words = examples.flatMap((example) => example?.words ?? []);
    expect(words).toHaveLength(schemas.length);
    const line = words.map(shellQuoted).join(" ");
    const arrived = execFileSync("sh", ["-c", `printf '%s\\0' ${line}`], { encoding: "utf8" });
    expect(arrived.split("\0").slice(0, -1)).toEqual(words);
  });
});
