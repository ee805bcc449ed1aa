import { describe, expect, it } from "vitest";
import { assembleArguments } from "../../../../src/core/tools/arguments/assemble.ts";
import { parseArguments } from "../../../../src/core/tools/arguments/parse.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";

const schema: JsonObject = {
  type: "object",
  properties: {
    title: { type: "string" },
    count: { type: "integer" },
    tags: { type: "array", items: { type: "string" } },
    draft: { type: "boolean" },
    maxResults: { type: "integer" },
    place: { type: "object", properties: { city: { type: "string" } } },
  },
};

async function assembled(words: readonly string[], by = schema) {
  const sources = { file: async (path: string) => `content of ${path}`, stdin: async () => "{}" };
  const given = await parseArguments(words, sources);
  const { args, problem, warnings } = assembleArguments(given, by, "");
  return { args: JSON.parse(JSON.stringify(args)), problem: problem?.message, warnings };
}

describe("arguments as people type them", () => {
  it.each<[string, string[], JsonObject]>([
    ["an option", ["--title", "x y"], { title: "x y" }],
    ["an option with =", ["--title=x", "--count=2"], { title: "x", count: 2 }],
    ["an option from a file", ["--title", "@a.txt"], { title: "content of a.txt" }],
    ["an option twice", ["--tags", "a", "--tags", "b"], { tags: ["a", "b"] }],
    ["an option with JSON", ["--place", '{"city": "Oslo"}'], { place: { city: "Oslo" } }],
    ["an option into an object", ["--place.city", "Oslo"], { place: { city: "Oslo" } }],
    ["an option with a negative number", ["--count", "-3"], { count: -3 }],
    ["an option with a value like a pair", ["--title", "count=2"], { title: "count=2" }],
    ["an option in another spelling", ["--max-results", "5"], { maxResults: 5 }],
    ["all in one option", ["--args", '{"title": "x"}', "3"], { title: "x", count: 3 }],
    ["all in one option with =", ['--args={"count": 2}'], { count: 2 }],
    ["a flag", ["--draft"], { draft: true }],
    ["a flag with a value", ["--draft", "false"], { draft: false }],
    ["a flag that is denied", ["--no-draft"], { draft: false }],
    ["a flag before a pair", ["--draft", "title=x"], { draft: true, title: "x" }],
    ["a flag before a value", ["--draft", "x"], { draft: true, title: "x" }],
    ["a colon", ["title:x", "count:3"], { title: "x", count: 3 }],
    ["a colon and a space", ["title:", "x y", "count:", "3"], { title: "x y", count: 3 }],
    ["a colon and a space in one word", ["title: x y", "count: 3"], { title: "x y", count: 3 }],
    ["a colon and a space in a value", ["Note: this", "3"], { title: "Note: this", count: 3 }],
    ["a colon and a file", ["title:", "@a.txt"], { title: "content of a.txt" }],
    ["a colon at the end of a value", ["Note:", "3"], { title: "Note:", count: 3 }],
    ["a colon before a pair", ["Note:", "count=3"], { title: "Note:", count: 3 }],
    ["a colon in a value", ["14:30"], { title: "14:30" }],
    ["a colon in an address", ["https://a.example/?q=1"], { title: "https://a.example/?q=1" }],
    ["values in the order of the schema", ["x", "3", "a"], { title: "x", count: 3, tags: ["a"] }],
    ["values for what is left", ["title=x", "3"], { title: "x", count: 3 }],
    ["a value beside JSON", ['{"title": "x"}', "3"], { title: "x", count: 3 }],
    ["values before and after", ["x", "--draft", "3"], { title: "x", draft: true, count: 3 }],
  ])("may be %s", async (_, words, args) => {
    expect(await assembled(words)).toEqual({ args, warnings: [] });
  });

  it.each<[string, string[], string]>([
    ["an option without a value", ["--title"], "--title needs a value"],
    ["an option before another", ["--title", "--draft"], "--title needs a value"],
    ["an unknown option", ["--titel", "x"], "there is no parameter 'titel'; did you mean 'title'?"],
    [
      "its value with it",
      ["--titel", "14:30"],
      "there is no parameter 'titel'; did you mean 'title'?",
    ],
    ["an unknown key", ["titel:x"], "there is no parameter 'titel'; did you mean 'title'?"],
    ["it and a space", ["titel:", "x"], "there is no parameter 'titel'; did you mean 'title'?"],
    ["a value of another type", ["x", "y"], "count: expected integer, got 'y'"],
  ])("are refused for %s", async (_, words, problem) => {
    expect((await assembled(words)).problem).toBe(problem);
  });

  it("belong to a parameter named args, if the tool has one", async () => {
    const own = { type: "object", properties: { args: { type: "object" } } };
    const { args } = await assembled(["--args", '{"title": "x"}'], own);
    expect(args).toEqual({ args: { title: "x" } });
  });

  it("are not missing too if only their value is", async () => {
    const needed = { ...schema, required: ["title"] };
    expect((await assembled(["--title"], needed)).problem).toBe("--title needs a value");
  });

  it("are refused for a value that no parameter is left for", async () => {
    const one = { properties: { text: { type: "string" } } };
    expect((await assembled(["a", "b"], one)).problem).toBe(
      "unexpected argument 'b'; the tool takes text",
    );
    expect((await assembled(["a"], { properties: {} })).problem).toBe(
      "unexpected argument 'a'; the tool takes no arguments",
    );
  });
});
