import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  positionOf,
  readServerText,
  type ServerText,
  withEnabled,
  withoutServer,
  withServer,
} from "../../../src/core/config/server-text.ts";
import { failure, writeConfig } from "./files.ts";
import { temporaryDirectory } from "../../support/directory.ts";

async function read(text: string, agent?: string): Promise<ServerText> {
  const file = await writeConfig(text);
  return readServerText(file, agent, { cwd: dirname(file), homedir: dirname(file) });
}

const X = { command: "x" };

describe("where a server is written", () => {
  it.each<[what: string, text: string, agent: string | undefined, after: string]>([
    [
      "a file without servers",
      "{ audit: {} }",
      undefined,
      '{ audit: {}, mcpServers: { x: { command: "x" } } }',
    ],
    [
      "the short form",
      '{ "mcpServers": { "a": { "command": "a" } } }',
      undefined,
      '{ "mcpServers": { "a": { "command": "a" }, "x": { "command": "x" } } }',
    ],
    [
      "the other short form",
      '{ "servers": {} }',
      undefined,
      '{ "servers": { "x": { "command": "x" } } }',
    ],
    [
      "the long form",
      "{ agents: { defaults: { maxSteps: 3 } } }",
      undefined,
      '{ agents: { defaults: { maxSteps: 3, mcp: { servers: { x: { command: "x" } } } } } }',
    ],
    [
      "one agent",
      '{ agents: { list: [{ id: "a" }, { id: "b" }] } }',
      "b",
      '{ agents: { list: [{ id: "a" }, { id: "b", mcp: { servers: { x: { command: "x" } } } }] } }',
    ],
  ])("%s", async (_, text, agent, after) => {
    expect(withServer(await read(text, agent), "x", X)).toBe(after);
  });

  it("is a new file", async () => {
    const directory = temporaryDirectory();
    const file = join(directory, "plugboard.json");
    const servers = await readServerText(file, undefined, { cwd: directory, homedir: directory });
    expect(JSON.parse(withServer(servers, "x", X))).toEqual({ mcpServers: { x: X } });
    const error = await failure(() =>
      readServerText(file, "research", { cwd: directory, homedir: directory }),
    );
    expect(error.message).toContain("there is no such file, and so no agent in it");
  });

  it("has a position", async () => {
    const servers = await read('{\n  "mcpServers": {\n    "x": { "command": "x" }\n  }\n}');
    expect(positionOf(servers, "x")).toEqual({ line: 3, column: 5 });
  });

  it("is a file of servers that may be ours under another name", async () => {
    const directory = temporaryDirectory();
    const file = join(directory, "servers.json");
    await writeFile(file, '{ "mcpServers": { "a": { "command": "a" } } }');
    const servers = await readServerText(file, undefined, { cwd: directory, homedir: directory });
    expect(servers.place).toEqual(["mcpServers"]);
  });

  it.each([
    ["of another application", "settings.json", '{ "context_servers": {} }', "is a file of Zed"],
    ["with the name of another", ".mcp.json", '{ "mcpServers": {} }', "is a file of Claude Code"],
    ["that is not valid", "settings.json", '{ "agents": 3 }', "agents"],
  ])("is not a file %s", async (_, name, text, message) => {
    const directory = temporaryDirectory();
    const file = join(directory, name);
    await writeFile(file, text);
    const error = await failure(() =>
      readServerText(file, undefined, { cwd: directory, homedir: directory }),
    );
    expect(error.code).toBe("CONFIG_INVALID");
    expect(error.message).toContain(message);
  });
});

describe("removing, enabling and disabling", () => {
  const TEXT = `{
  // mine
  "mcpServers": {
    "a": { "command": "a" }, // first
    // about x
    "x": {
      "command": "x" // here
    }
  }
}
`;

  it("keeps the rest, and comes back to where it was", async () => {
    const servers = await read(TEXT);
    const disabled = withEnabled(servers, "x", false);
    expect(disabled).toBe(
      TEXT.replace('"x" // here', '"x", // here').replace(
        /\/\/ here\n/,
        '// here\n      "enabled": false\n',
      ),
    );
    expect(withEnabled({ ...servers, text: disabled }, "x", true)).toBe(TEXT);
    expect(withEnabled(servers, "x", true)).toBe(TEXT);
    expect(withoutServer(servers, "x")).toBe(`{
  // mine
  "mcpServers": {
    "a": { "command": "a" } // first
  }
}
`);
  });

  it("for one agent leaves the defaults alone", async () => {
    const text = `{
  agents: {
    defaults: { mcp: { servers: { on: { command: "x" }, off: { command: "x", enabled: false } } } },
    list: [{ id: "a", mcp: { servers: {} } }],
  },
}`;
    const servers = await read(text, "a");
    const disabled = withEnabled(servers, "on", false);
    expect(disabled).toBe(
      text.replace(
        "{ servers: {} }",
        "{ servers: {\n      on: {\n        enabled: false,\n      },\n    } }",
      ),
    );
    expect(withEnabled({ ...servers, text: disabled }, "on", true)).toBe(text);
    expect(withEnabled(servers, "off", true)).toContain("enabled: true");
    expect(withEnabled(servers, "off", false)).toBe(text);
  });
});
