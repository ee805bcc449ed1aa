import { describe, expect, it } from "vitest";
import { readServer, readServerJson, readTypedServer } from "../../src/cli/read-server.ts";
import type { ServerConfig } from "../../src/core/types/server-config.ts";
import { failure } from "../core/config/files.ts";

type Typed = Parameters<typeof readServer>[0];

const typed = (words: string[], given: Partial<Typed> = {}): Typed => ({
  name: "x",
  words,
  env: [],
  headers: [],
  ...given,
});

describe("a server on the command line", () => {
  it.each<[words: string[], given: Partial<Typed>, server: ServerConfig]>([
    [["npx", "-y", "some"], {}, { command: "npx", args: ["-y", "some"] }],
    [["serve"], {}, { command: "serve" }],
    [["serve"], { transport: "stdio" }, { command: "serve" }],
    [["/opt/my app/serve"], {}, { command: "/opt/my app/serve" }],
    [
      ["serve"],
      { env: ["A=1", "B=x=y", "C="] },
      { command: "serve", env: { A: "1", B: "x=y", C: "" } },
    ],
    [["https://a.example/mcp"], {}, { url: "https://a.example/mcp" }],
    [["HTTPS://a.example"], { transport: "http" }, { type: "http", url: "HTTPS://a.example" }],
    [["http://a.example"], { transport: "sse" }, { type: "sse", url: "http://a.example" }],
    [
      ["http://10.0.0.7/mcp"],
      { allowInsecure: true, allowPrivate: true },
      { url: "http://10.0.0.7/mcp", allowInsecure: true, allowPrivate: true },
    ],
    [
      ["https://a.example"],
      { headers: ["Authorization: Bearer ${TOKEN}", "X-Team=blue", "X-Empty:"] },
      {
        url: "https://a.example",
        headers: { Authorization: "Bearer ${TOKEN}", "X-Team": "blue", "X-Empty": "" },
      },
    ],
  ])("%j with %j", (words, given, server) => {
    expect(readServer(typed(words, given))).toEqual({ name: "x", server });
  });

  it("may have variables before its name, and arguments that look like variables", () => {
    const words = ["B=2", "fs", "npx", "C=3"];
    expect(readServer(typed(words, { name: "A=1", env: ["Z=0"] }))).toEqual({
      name: "fs",
      server: { command: "npx", args: ["C=3"], env: { Z: "0", A: "1", B: "2" } },
    });
  });

  it("takes several variables and headers after one option, as claude mcp add does", () => {
    expect(readServer(typed(["B=2", "npx"], { env: ["A=1"] })).server).toEqual({
      command: "npx",
      env: { A: "1", B: "2" },
    });
    const words = ["https://a.example", "B: 2"];
    expect(readServer(typed(words, { headers: ["A: 1"] })).server).toEqual({
      url: "https://a.example",
      headers: { A: "1", B: "2" },
    });
  });

  it.each<[words: string[], given: Partial<Typed>, message: string, hint: string]>([
    [[], {}, "there is nothing to add as 'x'", "give a command after --, or a URL"],
    [["serve"], { headers: ["A: 1"] }, "a header (-H) is for a URL", "-e"],
    [["https://a.example"], { env: ["A=1"] }, "a variable (-e) is for a command", "-H"],
    [
      ["https://a.example", "more"],
      {},
      "'more' is one word too many: a URL takes no arguments",
      "",
    ],
    [["serve"], { transport: "http" }, "-t http is for a URL, and 'serve' is none", "leave out -t"],
    [["https://a.example"], { transport: "stdio" }, "this is a URL", "leave out -t"],
    [["ws://a.example"], {}, 'has the scheme "ws"; expected "https" or "http"', ""],
    [["npx -y some"], {}, "'npx -y some' is one word", "plugboard add x -- npx -y some"],
    [["serve"], { env: ["TOKEN"] }, "-e takes KEY=value", "-e 'TOKEN=${TOKEN}'"],
    [["https://a.example"], { headers: ["nothing"] }, "-H takes a header such as", ""],
  ])("%j with %j is refused", async (words, given, message, hint) => {
    const error = await failure(() => readServer(typed(words, given)));
    expect(error.code).toBe("INVALID_ARGUMENTS");
    expect(error.message).toContain(message);
    expect(error.hint ?? "").toContain(hint);
  });
});

describe("a server that is used without a configuration", () => {
  type Given = Parameters<typeof readTypedServer>[0];
  const given = (server: Partial<Given>): Given => ({ env: [], headers: [], ...server });
  const argv = ["call", "t", "--", "npx -y some"];

  it.each<[Partial<Given>, ServerConfig]>([
    [{ words: ["npx", "-y", "some"] }, { command: "npx", args: ["-y", "some"] }],
    [
      { words: ["serve"], env: ["A=1", "TOKEN"] },
      { command: "serve", env: { A: "1", TOKEN: "${TOKEN}" } },
    ],
    [
      { url: "http://a.example", headers: ["A: 1"] },
      { url: "http://a.example", headers: { A: "1" } },
    ],
  ])("%j", (words, server) => {
    expect(readTypedServer(given(words), argv)).toEqual(server);
  });

  it.each<[Partial<Given>, message: string, hint: string]>([
    [{ words: [] }, "there is nothing after --", "plugboard tools -- npx -y some-server"],
    [
      { words: ["npx"], url: "https://a.example" },
      "and there is a command after --",
      "one of them",
    ],
    [{ words: ["https://a.example"] }, "a command is expected after --", "leave out --"],
    [{ url: "ftp://a.example" }, 'has the scheme "ftp"', ""],
    [{ url: "https://" }, "is not a URL", ""],
    [{ url: "https://a.example", env: ["A=1"] }, "a variable (-e) is for a command", "-H"],
    [{ words: ["npx"], headers: ["A: 1"] }, "a header (-H) is for a URL", "-e"],
    [{ env: ["A=1"] }, "a variable (-e) is for a server that you type", "after --"],
    [{ headers: ["A: 1"] }, "a header (-H) is for a server that you type", "a URL"],
    [{ allowPrivate: true }, "--allow-private is for a server that you type", "a URL"],
    [{ words: ["npx"], allowInsecure: true }, "--allow-insecure is for a URL", "leave it out"],
    [{ words: ["npx"], env: ["a b"] }, "-e takes KEY=value", ""],
    [{ words: ["npx -y some"] }, "is one word", "plugboard call t -- npx -y some"],
  ])("%j is refused", async (words, message, hint) => {
    const error = await failure(() => readTypedServer(given(words), argv));
    expect(error.code).toBe("INVALID_ARGUMENTS");
    expect(error.message).toContain(message);
    expect(error.hint ?? "").toContain(hint);
  });
});

describe("a server as JSON", () => {
  it("may be JSON5", () => {
    expect(readServerJson("{ command: 'npx', /* yes */ args: ['-y',], }")).toEqual({
      command: "npx",
      args: ["-y"],
    });
  });

  it.each(["mcpServers", "servers"])("may be in %s, as in a file", (key) => {
    expect(readServerJson(`{ "${key}": { "x": { "command": "npx" } } }`)).toEqual({
      command: "npx",
    });
  });

  it.each([
    ["{ command: ", "the JSON cannot be read: 1:"],
    ["[]", "the JSON is not a server"],
    ["{ mcpServers: {} }", "the JSON is not a server"],
    ["{ mcpServers: { a: { command: 'a' }, b: { command: 'b' } } }", "the JSON is not a server"],
    ["{ url: 'a', url: 'b' }", "the JSON is not a server"],
  ])("%j is refused", async (json, message) => {
    const error = await failure(() => readServerJson(json));
    expect(error.code).toBe("INVALID_ARGUMENTS");
    expect(error.message).toContain(message);
  });
});
