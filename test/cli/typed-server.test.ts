import { describe, expect, it } from "vitest";
import { isHttp, takeServer, type TakenServer } from "../../src/cli/typed-server.ts";

const none = { env: [], headers: [] };

describe("a server among the words of a command", () => {
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
    expect(takeServer({}, words, behind, {})).toEqual(taken);
  });

  it("is only an http URL where words may be URIs", () => {
    expect(takeServer({ isUrl: isHttp }, ["lib:///a"], undefined, {})).toEqual({
      words: ["lib:///a"],
    });
  });

  it("has the variables and headers, also where it is missing", () => {
    expect(takeServer({}, ["t"], undefined, { env: ["A"], header: ["B: 1"] })).toEqual({
      words: ["t"],
      typed: { env: ["A"], headers: ["B: 1"] },
    });
  });
});
