import { describe, expect, it } from "vitest";
import { isBoard, isOwnServer, ownBin } from "../../../src/core/config/own-server.ts";

describe("a server that is Plugboard itself", () => {
  it.each<[string, unknown, unknown, boolean]>([
    ["the command", "plugboard", ["serve"], true],
    ["the command with options", "plugboard", ["--config", "x.json", "serve"], true],
    ["the command by its path", "/usr/local/bin/plugboard", ["serve"], true],
    ["the shim on Windows", "C:\\npm\\plugboard.cmd", ["serve"], true],
    ["node with the running command's file", "node", [ownBin(), "serve"], true],
    [
      "node with an installed one",
      "node",
      ["/lib/node_modules/plugboard/dist/bin.cjs", "serve"],
      true,
    ],
    ["npx", "npx", ["-y", "plugboard", "serve"], true],
    ["npx with a version", "npx", ["-y", "plugboard@1.2.3", "serve"], true],
    ["a shell", "sh", ["-c", "exec plugboard --agent a serve"], true],
    ["the agent", "plugboard", ["acp"], true],
    ["the session program", "plugboard", ["serve", "--session", "id"], false],
    ["another command of ours", "plugboard", ["tools"], false],
    ["another program that serves", "notes", ["serve"], false],
    ["a program with a similar name", "plugboard-notes", ["serve"], false],
    ["a word before the command", "serve", ["plugboard"], false],
    ["nothing", undefined, undefined, false],
    ["what is no text", 1, [{}, "plugboard", "serve"], false],
  ])("%s", (_, command, args, expected) => {
    expect(isOwnServer(command, args)).toBe(expected);
  });
});

describe("a URL of the gateway itself", () => {
  it.each<[unknown, boolean]>([
    ["http://127.0.0.1:7584/mcp", true],
    ["http://localhost:7584/agents/research/mcp", true],
    ["http://[::1]:7584/mcp/", true],
    ["http://127.0.0.1:7585/mcp", false],
    ["http://127.0.0.1:7584/other", false],
    ["http://127.0.0.1:7601/mcp/plugboard-1", true],
    ["http://127.0.0.1:7601/mcp/notes-1", false],
    ["http://example.com:7601/mcp/plugboard-1", false],
    ["https://example.com:7584/mcp", false],
    ["${URL}", false],
    [undefined, false],
  ])("%s", (url, expected) => {
    expect(isBoard({ url })).toBe(expected);
  });

  it.each<[string, boolean]>([
    ["http://127.0.0.1:7585/mcp", true],
    ["https://localhost:7585/any/where", true],
    ["http://localhost/mcp", true],
    ["https://localhost/mcp", false],
    ["http://127.0.0.1:7586/mcp", false],
    ["http://example.com:7585/mcp", false],
  ])("%s, while gateways listen at 7585 and 80", (url, expected) => {
    expect(isBoard({ url }, { ports: [7585, 80] })).toBe(expected);
  });

  it.each<[string, string, boolean]>([
    ["http://127.0.0.1:7585/mcp", "plugboard", true],
    ["http://127.0.0.1:7585/agents/a/mcp", "plugboard", true],
    ["http://127.0.0.1:7585/mcp", "notes", false],
    ["http://127.0.0.1:7585/notes", "plugboard", false],
    ["https://example.com/mcp", "plugboard", false],
  ])("%s, for a server called %s", (url, name, expected) => {
    expect(isBoard({ url }, { name })).toBe(expected);
  });
});
