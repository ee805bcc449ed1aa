import { describe, expect, it } from "vitest";
import { candidatesFor, type Sources } from "../../../src/cli/completion/candidates.ts";
import type { KnownNames } from "../../../src/cli/completion/known-names.ts";
import type { Values } from "../../../src/cli/option.ts";
import { describeGrammar } from "../../../src/cli/describe-grammar.ts";

const names: KnownNames = {
  servers: ["files", "docs", "fresh"],
  agents: ["coder"],
  models: ["ollama/qwen3"],
  tools: [
    {
      name: "files/read",
      about: "Reads.",
      keys: [
        { name: "path", about: "where" },
        { name: "mode", about: "", values: ["text", "bytes"] },
        { name: "tag", about: "", isList: true },
      ],
    },
    { name: "files/search", about: "", keys: [] },
    { name: "docs/search", about: "", keys: [{ name: "query", about: "" }] },
  ],
};

const asked: unknown[] = [];
const sources: Sources = {
  grammar: await describeGrammar(),
  names: (given) => {
    asked.push(given);
    return Promise.resolve(names);
  },
  files: (directory) => (directory === "" ? ["notes.txt", "sub/"] : ["deep.txt"]),
};

async function offered(line: string, around = sources) {
  const { candidates, shell } = await candidatesFor(line.split(" "), around);
  return { values: candidates.map(({ value }) => value), shell };
}

describe("what can come next", () => {
  it.each([
    ["a command", "to", ["tools", "tokens"]],
    ["a command after options", "--config a.json --json dem", ["demo"]],
    ["a command inside one", "pins ", ["list", "show", "approve", "forget"]],
    ["a command for help, and one inside it", "help pins f", ["forget"]],
    ["options of the command and of every command", "demo --j", ["--json"]],
    ["the options of a command that takes nothing else", "down ", ["--help"]],
    ["no hidden option", "up --b", []],
    ["a value with a choice", "--log-level w", ["warn"]],
    ["a value with a choice, behind =", "--log-level=w", ["--log-level=warn"]],
    ["an option where its value may be left out", "import --secrets --wr", ["--write"]],
    ["a value that may be left out", "import --secrets k", ["keyring"]],
    ["a choice of an argument", "completion ", ["bash", "zsh", "fish"]],
    ["an application", "connect cl", ["claude-code", "claude-desktop", "cline"]],
    ["a server", "status f", ["files", "fresh"]],
    ["a server for a command that is also called otherwise", "rm d", ["docs"]],
    ["several servers", "update files d", ["docs"]],
    ["the tools of the server to trace", "trace files r", ["read"]],
    ["what the traced tool takes", "trace files read p", ["path="]],
    ["the tools of the server to record", "record files f.jsonl r", ["read"]],
    ["what the recorded tool takes", "record files f.jsonl read p", ["path="]],
    ["a server of an option", "tools --server d", ["docs"]],
    ["an agent", "--agent ", ["coder"]],
    ["a model", "ask --model o", ["ollama/qwen3"]],
    [
      "a tool, and a server whose tools nobody knows",
      "call f",
      ["files/read", "files/search", "fresh/"],
    ],
    ["a tool by its own name, if no other has it", "call rea", ["read"]],
    ["no tool by a name that two have", "call sea", []],
    ["a server, then its tools, where both are possible", "pins show d", ["docs"]],
    ["tools of a server", "pins show docs/", ["docs/search"]],
    ["arguments of a tool", "call files/read ", ["path=", "mode=", "tag="]],
    ["arguments of a tool after a server", "call files.read p", ["path="]],
    ["arguments that are not given yet", "call read path=x mode:=1 tag=a ", ["tag="]],
    ["values of an argument", "call files/read mode=t", ["mode=text"]],
    ["files after @", "call files/read path=@n", ["path=@notes.txt"]],
    ["files in a directory after @", "call files/read @sub/d", ["@sub/deep.txt"]],
    ["nothing for a tool that nobody knows", "call other/tool ", []],
    ["nothing for a text of your own", "ask wh", []],
    ["nothing after an unknown command", "nonsense ", []],
  ])("offers %s", async (_, line, expected) => {
    expect((await offered(line)).values).toEqual(expected);
  });

  it.each([
    ["files for an option", "--config ", "files"],
    ["files where a path is typed", "add ./s", "files"],
    ["directories", "call x --output ", "directories"],
    ["programs after --", "tools -- n", "commands"],
    ["files for a program", "call echo -- node s", "files"],
    ["programs for add, after its name", "add files -- ", "commands"],
    ["nothing for a server", "status ", undefined],
  ])("leaves to the shell: %s", async (_, line, expected) => {
    expect((await offered(line)).shell).toBe(expected);
  });

  it("offers the tools of a server that was named before, and their arguments", async () => {
    const arg = (values: Values) => ({ values, isVariadic: values === "argument" });
    const trace = {
      ...sources.grammar,
      commands: [],
      args: [arg("server"), arg("tool"), arg("argument")],
    };
    const traced = { ...sources, grammar: trace };
    expect((await offered("files ", traced)).values).toEqual(["read", "search"]);
    expect((await offered("docs search ", traced)).values).toEqual(["query="]);
  });

  it("offers servers first where there are many tools", async () => {
    const tools = Array.from({ length: 100 }, (_, at) => ({
      name: `${at < 50 ? "files" : "docs"}/t${at}`,
      about: "",
      keys: [],
    }));
    const many = { ...sources, names: () => Promise.resolve({ ...names, tools }) };
    expect((await offered("call ", many)).values).toEqual(["files/", "docs/", "fresh/"]);
    expect((await offered("call docs/t9", many)).values).toHaveLength(10);
  });

  it("asks for names with the configuration and the agent that are given, and only if it needs them", async () => {
    asked.length = 0;
    await offered("tools --log-level ");
    await offered("--config=a.json --agent coder status ");
    expect(asked).toEqual([{ config: "a.json", agent: "coder" }]);
  });
});
