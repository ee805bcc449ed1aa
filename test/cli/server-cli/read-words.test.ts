import { describe, expect, it } from "vitest";
import { assembleArguments } from "../../../src/core/tools/arguments/assemble.ts";
import type { EmbeddedServer } from "../../../src/cli/server-cli/embedded.ts";
import { readWords } from "../../../src/cli/server-cli/read-words.ts";

const embedded: EmbeddedServer = {
  name: "docs",
  server: { command: "docs" },
  tools: [
    {
      name: "search_all",
      parameters: {
        type: "object",
        properties: {
          query: { type: "string" },
          maxHits: { type: "integer" },
          dry_run: { type: "boolean" },
          exact: { type: ["boolean", "null"] },
          order: { enum: ["asc", "desc"] },
          tag: { type: "array", items: { type: "string" } },
          edits: { type: "array", items: { type: "object" } },
          place: {
            type: "object",
            properties: { city: { type: "string" }, zip: { type: "integer" } },
          },
        },
        required: ["query"],
      },
    },
    { name: "GetOne", parameters: { type: "object", properties: { json: { type: "string" } } } },
    { name: "a_b", parameters: {} },
    { name: "a-b", parameters: {} },
  ],
};

function read(line: string | readonly string[]) {
  const argv = typeof line === "string" ? line.split(" ") : line;
  return readWords(argv, embedded, "docs.mjs");
}

/** The arguments that a call would have. */
function argumentsOf(line: string | readonly string[]): unknown {
  const { action } = read(line);
  if (action.kind !== "call") return action;
  const { args, problem } = assembleArguments(
    { whole: {}, pairs: action.pairs },
    action.tool.parameters,
    "",
  );
  return { ...args, ...(problem && { problem: problem.message }) };
}

describe("options of a command", () => {
  it.each<[line: string | string[], args: object]>([
    ["search-all --query x", { query: "x" }],
    ["search_all --query=x", { query: "x" }],
    ["search-all --query x --max-hits 3", { query: "x", maxHits: 3 }],
    ["search-all --query x --maxHits -3", { query: "x", maxHits: -3 }],
    ["search-all --query --json", { query: "--json" }],
    ["search-all --query @notes", { query: "@notes" }],
    ["search-all --query 007", { query: "007" }],
    ["search-all --dry-run --query x", { dry_run: true, query: "x" }],
    ["search-all --dry_run --query x", { dry_run: true, query: "x" }],
    ["search-all --no-dry-run --query x", { dry_run: false, query: "x" }],
    ["search-all --dry-run=false --query x", { dry_run: false, query: "x" }],
    ["search-all --dry-run false --query x", { dry_run: false, query: "x" }],
    ["search-all --exact --query x", { exact: true, query: "x" }],
    ["search-all --exact=null --query x", { exact: null, query: "x" }],
    ["search-all --query x --order asc", { query: "x", order: "asc" }],
    ["search-all --query x --tag a --tag b", { query: "x", tag: ["a", "b"] }],
    ["search-all --query x --tag a", { query: "x", tag: ["a"] }],
    ['search-all --query x --tag ["a","b"]', { query: "x", tag: ["a", "b"] }],
    [
      'search-all --query x --edits {"a":1} --edits {"b":2}',
      { query: "x", edits: [{ a: 1 }, { b: 2 }] },
    ],
    ['search-all --query x --place {"city":"Oslo"}', { query: "x", place: { city: "Oslo" } }],
    [
      "search-all --query x --place.city Oslo --place.zip 3",
      { query: "x", place: { city: "Oslo", zip: 3 } },
    ],
    [["search-all", "--query", "two words"], { query: "two words" }],
  ])("%s", (line, args) => {
    expect(argumentsOf(line)).toEqual(args);
  });

  it.each<[line: string, problem: string]>([
    ["search-all --query x --order up", 'order: expected one of "asc" | "desc", got \'up\''],
    ["search-all --query x --max-hits many", "maxHits: expected integer, got 'many'"],
    ["search-all --dry-run=maybe --query x", "dry_run: expected boolean, got 'maybe'"],
    ["search-all --max-hits 3", "1 argument missing:\n    query  string"],
  ])("%s is refused", (line, problem) => {
    expect(argumentsOf(line)).toMatchObject({ problem });
  });
});

describe("words beside them", () => {
  it("are arguments as for plugboard call", () => {
    const { action } = read(["search-all", "--raw", '{"query":"x"}', "maxHits=3", "-"]);
    expect(action).toMatchObject({ kind: "call", words: ['{"query":"x"}', "maxHits=3", "-"] });
  });

  it("may begin with hyphens after --", () => {
    expect(read("search-all -- --x=1").action).toMatchObject({ words: ["--x=1"] });
  });
});

describe("what is asked for", () => {
  it.each<[line: string, action: object, options?: object]>([
    ["--help", { kind: "help" }],
    ["-h", { kind: "help" }],
    ["--list --json", { kind: "list" }, { json: true }],
    ["search-all --help", { kind: "tool-help", tool: { name: "search_all" } }],
    ["--help search-all", { kind: "tool-help", tool: { name: "search_all" } }],
    ["get-one", { kind: "call", tool: { name: "GetOne" } }],
    ["GetOne", { kind: "call", tool: { name: "GetOne" } }],
    ["a_b", { kind: "call", tool: { name: "a_b" } }],
    ["a-b", { kind: "call", tool: { name: "a-b" } }],
    [
      "a-b --json --yes --timeout 5 --output here",
      { kind: "call" },
      { json: true, yes: true, timeout: 5, output: "here" },
    ],
    // Its own parameter comes first after the command, and ours before it.
    [
      "get-one --json x",
      { pairs: [{ key: "json", value: { kind: "text", text: "x" } }] },
      { json: false },
    ],
    ["--json get-one", { kind: "call", pairs: [] }, { json: true }],
  ])("%s", (line, action, options = {}) => {
    const found = read(line);
    expect(found.action).toMatchObject(action);
    expect(found.options).toMatchObject(options);
  });

  it("is the help without any word", () => {
    expect(read([]).action).toEqual({ kind: "help" });
  });

  it.each<[line: string, message: string, hint?: string]>([
    [
      "serch-all",
      "there is no command 'serch-all'; did you mean 'search-all'?",
      "to see all commands: docs.mjs --help",
    ],
    [
      "search-all --qurey x",
      "there is no option '--qurey'; did you mean '--query'?",
      "to see the options: docs.mjs search-all --help",
    ],
    ["search-all --query", "--query needs a value"],
    [
      "--jsno",
      "there is no option '--jsno'; did you mean '--json'?",
      "to see the options: docs.mjs --help",
    ],
    ["--json=1", "--json takes no value"],
    ["search-all --timeout soon", "--timeout takes a whole number of milliseconds"],
    ["--yes", "the command is missing", "to see all commands: docs.mjs --help"],
  ])("%s is refused", (line, message, hint) => {
    const { action } = read(line);
    expect(action).toMatchObject({ kind: "wrong", error: { code: "INVALID_ARGUMENTS", message } });
    if (hint !== undefined) expect(action).toMatchObject({ error: { hint } });
  });

  it("is answered in JSON even if the mistake comes first", () => {
    expect(read("nothing --json").options.json).toBe(true);
  });
});
