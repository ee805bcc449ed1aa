import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type About, ToolIndex } from "../../../../src/core/catalog/search/tool-index.ts";
import type { Tool } from "../../../../src/core/types/tool.ts";
import { tool as make } from "../../../cli/tool.ts";

/** A tool of a server, or `server/name`, with its description as the server wrote it. */
function tool(name: string, ownDescription = "", more: Partial<Tool> = {}): Tool {
  const [server = "", own = ""] = name.includes("/") ? name.split("/") : ["s", name];
  return make(server, own, { ownDescription, ...more });
}

function indexOf(tools: readonly Tool[], about?: About): ToolIndex {
  const index = new ToolIndex();
  index.update(tools, about);
  return index;
}

function found(index: ToolIndex, question: string, most = 10): string[] {
  return index
    .rank(question, most, () => true)
    .map(({ tool: { source } }) => (source.kind === "mcp" ? source.tool : ""));
}

const FILES = [
  tool("read_file", "Reads the contents of a text file."),
  tool("write_file", "Writes text into a file, which it creates."),
  tool("move_file", "Moves or renames files and directories."),
  tool("list_directory", "Lists what is in a directory."),
  tool("current_weather", "Temperature and wind at a place."),
];

describe("what is found", () => {
  it.each([
    ["read file", "read_file"],
    ["Reading files", "read_file"],
    ["readFile", "read_file"],
    ["read_file", "read_file"],
    ["s/read_file", "read_file"],
    ["mcp__s__read_file", "read_file"],
    // In other words.
    ["is it going to rain?", "current_weather"],
    ["what is in this folder", "list_directory"],
    // Mistyped: a letter too few, too many, another, and two that have changed places.
    ["temprature", "current_weather"],
    ["temperatture", "current_weather"],
    ["temperamure", "current_weather"],
    ["tempreature", "current_weather"],
  ])("with %j is %s first", (question, name) => {
    expect(found(indexOf(FILES), question)[0]).toBe(name);
  });

  it("is what the question is about, not what has its verb", () => {
    const git = indexOf([
      tool("git/git_status", "Shows the working tree status"),
      tool("git/git_diff_unstaged", "Shows changes in the directory that are not yet staged"),
      tool("git/git_diff_staged", "Shows changes that are staged for commit"),
      tool("git/git_diff", "Shows differences between branches or commits"),
      tool("git/git_commit", "Records changes to the repository"),
      tool("git/git_add", "Adds file contents to the staging area"),
      tool("git/git_reset", "Unstages all staged changes"),
      tool("git/git_log", "Shows the commit logs"),
      tool("git/git_create_branch", "Creates a new branch from an optional base branch"),
      tool("git/git_checkout", "Switches branches"),
      tool("git/git_show", "Shows the contents of a commit"),
      tool("git/git_branch", "List Git branches"),
    ]);
    expect(found(git, "list git commits")[0]).toBe("git_log");
    expect(found(git, "make a commit", 3)).toContain("git_commit");
    expect(found(git, "list branches")[0]).toBe("git_branch");
    expect(found(git, "recent commits")[0]).toBe("git_log");
    expect(found(git, "commit my changes")[0]).toBe("git_commit");
  });

  it.each(["", "   ", "?", "the of and", "xylophone", "constructor", "__proto__", "valueOf"])(
    "with %j is nothing",
    (question) => {
      expect(found(indexOf(FILES), question)).toEqual([]);
    },
  );

  it("is in every field, and the name says most", () => {
    const tools = [
      tool("other/a", "", {
        parameters: { type: "object", properties: { q: { description: "An invoice." } } },
      }),
      tool("other/b", "", { parameters: { type: "object", properties: { invoice: {} } } }),
      tool("other/c", "Something with an invoice."),
      tool("other/d", "", { title: "Invoice" }),
      tool("invoice/e"),
      tool("other/invoice"),
      tool("unrelated"),
      tool("further"),
    ];
    const names = found(indexOf(tools), "invoice");
    expect(names[0]).toBe("invoice");
    expect(names.toSorted()).toEqual(["a", "b", "c", "d", "e", "invoice"]);
    expect(names.indexOf("c")).toBeLessThan(names.indexOf("b"));
    expect(names.indexOf("b")).toBeLessThan(names.indexOf("a"));
  });

  it("is also what a server tells about itself, and nested parameters", () => {
    const nested = {
      type: "object",
      properties: { items: { type: "array", items: { type: "object", properties: { iban: {} } } } },
    };
    const tools = [tool("bank/pay", "", { parameters: nested }), tool("x"), tool("y")];
    const index = indexOf(tools, new Map([["bank", "Ledger of a household"]]));
    expect(found(index, "ledger")).toEqual(["pay"]);
    expect(found(index, "iban")).toEqual(["pay"]);
  });

  it("names a tool that is called like a word that says nothing elsewhere", () => {
    expect(found(indexOf([...FILES, tool("help", "About the others.")]), "help")).toEqual(["help"]);
  });

  it("is what the caller wants, at most so many, and of equals the first", () => {
    const same = ["w", "x", "y", "z"].map((name) => tool(`${name}/ping`, "Pings a host."));
    const index = indexOf(same);
    const servers = index
      .rank("ping", 2, ({ source }) => source.kind === "mcp" && source.server !== "w")
      .map(({ tool: { source } }) => (source.kind === "mcp" ? source.server : ""));
    expect(servers).toEqual(["x", "y"]);
  });
});

describe("a change of the list", () => {
  it("reads only what is new", () => {
    const index = new ToolIndex();
    expect(index.update(FILES)).toBe(FILES.length);
    expect(index.update(FILES)).toBe(0);
    expect(index.update([...FILES])).toBe(0);
    const changed = [...FILES.slice(0, 4), tool("current_weather", "Humidity at a place.")];
    expect(index.update(changed)).toBe(1);
    expect(found(index, "humidity")).toEqual(["current_weather"]);
    expect(index.update(FILES.slice(0, 2))).toBe(0);
    expect(found(index, "weather")).toEqual([]);
  });

  it("reads the tools of a server again that tells something else about itself", () => {
    const index = new ToolIndex();
    const tools = [tool("one/a"), tool("two/b")];
    index.update(tools, new Map([["one", "Ledger"]]));
    expect(index.update(tools, new Map([["one", "Diary"]]))).toBe(1);
    expect(found(index, "ledger")).toEqual([]);
    expect(found(index, "diary")).toEqual(["a"]);
  });

  it("is noticed also where two tools have one schema, and where two boards have one definition", () => {
    const parameters = { type: "object", properties: { path: { type: "string" } } };
    const one = tool("one", "Prunes a hedge.", { parameters });
    const other = tool("other", "Waters a lawn.", { parameters });
    const later = tool("one", "Mows a meadow.", { parameters });
    for (const index of [indexOf([one, other]), indexOf([{ ...one }, { ...other }])]) {
      expect(found(index, "hedge")).toEqual(["one"]);
      expect(found(index, "lawn")).toEqual(["other"]);
      index.update([later, other]);
      expect(found(index, "hedge")).toEqual([]);
      expect(found(index, "meadow")).toEqual(["one"]);
      expect(found(index, "path")).toHaveLength(2);
    }
  });

  it("leaves the ranks as they are in an index that is made anew", () => {
    const words = fc.array(fc.constantFrom("read", "file", "issue", "weather", "list", "mail"), {
      maxLength: 6,
    });
    const lists = fc.array(fc.subarray([0, 1, 2, 3, 4, 5, 6, 7]), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(
        fc.array(words, { minLength: 8, maxLength: 8 }),
        lists,
        words,
        (texts, chosen, question) => {
          const tools = texts.map((text, at) => tool(`t${at}`, text.join(" ")));
          const index = new ToolIndex();
          const picked = chosen.map((each) => each.flatMap((at) => tools[at] ?? []));
          for (const list of picked) index.update(list);
          const anew = indexOf(picked.at(-1) ?? []);
          const asked = question.join(" ");
          expect(index.rank(asked, 5, () => true)).toEqual(anew.rank(asked, 5, () => true));
        },
      ),
    );
  });
});

describe("hostile input", () => {
  const stuffing = "read write files contents text ".repeat(60);
  it.each<[place: string, hostile: Tool]>([
    ["description", tool("evil/a", stuffing)],
    ["title", tool("evil/a", "", { title: stuffing })],
    [
      "parameters",
      tool("evil/a", "", {
        parameters: {
          type: "object",
          properties: Object.fromEntries(
            Array.from({ length: 40 }, (_, at) => [
              `read_file_contents_${at}`,
              { description: stuffing },
            ]),
          ),
        },
      }),
    ],
  ])("is not found first because its %s repeats words", (_, hostile) => {
    const index = indexOf([hostile, ...FILES]);
    expect(found(index, "read the contents of a file")[0]).toBe("read_file");
    expect(found(index, "write text into a file")[0]).toBe("write_file");
  });

  it("is cut: what is far behind in a description is not read", () => {
    const index = indexOf([tool("a", `${"word ".repeat(20_000)} needle`), tool("b"), tool("c")]);
    expect(found(index, "needle")).toEqual([]);
    expect(found(index, "word")).toEqual(["a"]);
  });

  it("of ten thousand tools and a question of ten thousand characters is answered", () => {
    const letters = (at: number): string => at.toString(36).replace(/\d/g, "q");
    const text = Array.from({ length: 400 }, (_, at) => `word${letters(at)}`).join(" ");
    const tools = Array.from({ length: 10_000 }, (_, at) => tool(`t${at}`, at < 50 ? text : "x"));
    const index = indexOf([...tools, tool("target", "Finds the treasure.")]);
    const question = Array.from({ length: 2000 }, (_, at) => `wrod${letters(at)}`).join(" ");
    expect(found(index, `treasure ${question}`, 100)).toContain("target");
    index.update([]);
    expect(found(index, "treasure")).toEqual([]);
  });

  it("may have any names and schemas", () => {
    const odd = JSON.parse('{"__proto__":{"description":"x"},"constructor":1,"a":null}') as object;
    const deep: { properties: { more: unknown } } = { properties: { more: {} } };
    deep.properties.more = deep;
    const tools = [
      tool("__proto__", "constructor", { parameters: { properties: { ...odd } } }),
      tool("toString", "valueOf", { parameters: { properties: [] as never } }),
      tool("deep", "", { parameters: { ...deep } }),
    ];
    const index = indexOf(tools);
    expect(found(index, "__proto__")[0]).toBe("__proto__");
    expect(found(index, "constructor")).toEqual(["__proto__"]);
    expect(found(index, "hasOwnProperty")).toEqual([]);
  });
});
