import { describe, expect, it } from "vitest";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import {
  hintAtCommand,
  hintAtServer,
  urlMeantBy,
  urlMeantByName,
  withServerHint,
} from "../../../src/cli/typed/mistyped.ts";

describe("an address without a scheme", () => {
  it.each([
    ["localhost:3000", "http://localhost:3000"],
    ["127.0.0.1/mcp", "http://127.0.0.1/mcp"],
    ["[::1]:80", "http://[::1]:80"],
    ["example.com/mcp", "https://example.com/mcp"],
    ["example.com:8443", "https://example.com:8443"],
    ["10.0.0.1:80/mcp", "https://10.0.0.1:80/mcp"],
    ["example.com", undefined],
    ["files/read_file", undefined],
    ["files.read_file", undefined],
    ["localhosts", undefined],
    ["a:b", undefined],
    ["https://example.com/mcp", undefined],
  ])("%s: %s", (word, url) => {
    expect(urlMeantBy(word)).toBe(url);
  });
});

describe("an address where a name of the registry may stand", () => {
  it.each([
    ["example.com/mcp", true],
    ["mcp.example.app/sse", true],
    ["localhost/mcp", true],
    ["example:8080/mcp", false],
    ["my.host:8080/mcp", true],
    ["io.github.owner/server", false],
    ["com.example/mcp", false],
    ["io.example.dev/mcp", false],
    ["./example.com/mcp", false],
  ])("%s: %s", (word, isAddress) => {
    expect(urlMeantByName(word) !== undefined).toBe(isAddress);
  });
});

describe("the hint at a server that was typed", () => {
  const afterDashes = "the command of a server comes after --, as in: plugboard";
  const asUrl = "a URL begins with https:// or http://, as in: plugboard";
  it.each([
    ["tools npx -y some-server", `${afterDashes} tools -- npx -y some-server`],
    ["call npx -y x echo a=b", `${afterDashes} call <tool> -- npx -y x echo a=b`],
    ["call echo a=b -e K=1 node x.js", `${afterDashes} call echo a=b -e K=1 -- node x.js`],
    ["tools localhost:3000/mcp", `${asUrl} tools http://localhost:3000/mcp`],
    ["call example.com/mcp echo", `${asUrl} call https://example.com/mcp <tool>`],
    ["login example.com/mcp", `${asUrl} login https://example.com/mcp`],
    [
      "call echo https://example.com/mcp",
      "arguments are key=value; the URL of a server comes before the tool: plugboard call <url> <tool>",
    ],
    ["tools -- npx -y x", undefined],
    ["tools docker", undefined],
    ["tools read files", undefined],
    ["call fetch url=https://example.com/", undefined],
    ["tools https://example.com/mcp", undefined],
    ["tools", undefined],
  ])("%s", (line, hint) => {
    const [command = "", ...words] = line.split(" ");
    expect(hintAtServer(command, words)).toBe(hint);
  });

  it("is at its tools where a command of ours is expected", () => {
    const hint = "to see the tools of a server: plugboard tools";
    expect(hintAtCommand(["npx", "-y", "x"])).toBe(`${hint} -- npx -y x`);
    expect(hintAtCommand(["https://example.com/mcp"])).toBe(`${hint} https://example.com/mcp`);
    expect(hintAtCommand(["localhost:80"])).toBe(`${hint} http://localhost:80`);
    expect(hintAtCommand(["install", "x"])).toBeUndefined();
  });

  it("takes the place of the hint of a mistake, and of no other failure", () => {
    const words = ["localhost:3000", "echo"];
    const mistake = new PlugboardError("INVALID_ARGUMENTS", "no", { hint: "arguments are …" });
    expect(withServerHint(mistake, "call", words)).toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: "no",
      hint: expect.stringContaining("a URL begins with") as string,
    });
    expect(withServerHint(mistake, "call", ["echo"])).toBe(mistake);
    const failure = new PlugboardError("TIMEOUT", "late");
    expect(withServerHint(failure, "call", words)).toBe(failure);
  });
});
