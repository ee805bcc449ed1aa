import { describe, expect, it } from "vitest";
import { isHttp, splitWords, takeServer, type TakenServer } from "../../src/cli/typed-server.ts";

const none = { env: [], headers: [] };

describe("the words of a command line", () => {
  it.each<[string, string, string | undefined]>([
    ["tools", "tools", undefined],
    ["tools -- npx x", "tools", "npx x"],
    ["call t a=b -- npx -y x -- --json", "call t a=b", "npx -y x -- --json"],
    ["--config call tools x -- npx", "--config call tools x", "npx"],
    ["--json read a:b --", "--json read a:b", ""],
    ["add x -- npx y", "add x -- npx y", undefined],
    ["--config tools add x -- npx y", "--config tools add x -- npx y", undefined],
    ["ask -- why", "ask -- why", undefined],
    ["-- tools", "-- tools", undefined],
  ])("%s: %s, and behind it %s", (line, words, behind) => {
    expect(splitWords(line.split(" "))).toEqual({
      argv: words.split(" "),
      ...(behind !== undefined && { behind: behind.split(" ").filter(Boolean) }),
    });
  });
});

describe("a server among them", () => {
  it.each<[string[], string[] | undefined, TakenServer]>([
    [["t", "a=b"], undefined, { words: ["t", "a=b"] }],
    [["t"], ["npx"], { words: ["t"], typed: { words: ["npx"], ...none } }],
    [[], [], { words: [], typed: { words: [], ...none } }],
    [
      ["https://a.example", "t"],
      undefined,
      { words: ["t"], typed: { url: "https://a.example", ...none } },
    ],
    [["ftp://a.example"], undefined, { words: [], typed: { url: "ftp://a.example", ...none } }],
    [["t", "https://a.example"], undefined, { words: ["t", "https://a.example"] }],
    [["file:///a"], undefined, { words: ["file:///a"] }],
    [
      ["https://a.example"],
      ["npx"],
      { words: [], typed: { url: "https://a.example", words: ["npx"], ...none } },
    ],
  ])("%j with %j behind", (words, behind, taken) => {
    expect(takeServer(words, behind, {})).toEqual(taken);
  });

  it("is only an http URL where words may be URIs", () => {
    expect(takeServer(["lib:///a"], undefined, {}, isHttp)).toEqual({ words: ["lib:///a"] });
  });

  it("has the variables and headers, also where it is missing", () => {
    expect(takeServer(["t"], undefined, { env: ["A"], header: ["B: 1"] })).toEqual({
      words: ["t"],
      typed: { env: ["A"], headers: ["B: 1"] },
    });
  });
});
