import { join } from "node:path";
import { writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { readConfigContent, readConfigFile } from "../../../src/core/config/config-file.ts";
import { formatProblem } from "../../../src/core/config/issue.ts";
import { loadConfig, loadConfigContent } from "../../../src/core/config/load.ts";
import { loadGateway } from "../../../src/core/config/gateway.ts";
import { failure, messagesOf, writeConfig } from "./files.ts";
import { temporaryDirectory } from "../../support/directory.ts";

describe("the short form of our own file", () => {
  it.each(["mcpServers", "servers"])("has its servers under %s", async (key) => {
    const file = await writeConfig(`{ ${key}: { files: { command: "npx", lazy: true } },
      agents: { defaults: { mcp: { startupWait: 5000 }, tools: { deny: ["x"] } },
        list: [{ id: "own", mcp: { servers: { files: { enabled: false } } } }] } }`);
    const agent = await loadConfig(file);
    expect(agent).toMatchObject({
      servers: [{ name: "files", lazy: true, enabled: true }],
      startupWait: 5000,
      warnings: [],
    });
    expect(agent.notes).toBeUndefined();
    expect((await loadConfig(file, "own")).servers).toMatchObject([{ enabled: false }]);
  });

  it("is read for the gateway, too", async () => {
    const file = await writeConfig(
      `{ mcpServers: {}, gateway: { port: 1 }, agents: { list: [{ id: "a" }] } }`,
    );
    expect(await loadGateway(file)).toMatchObject({
      settings: { port: 1 },
      agentIds: ["default", "a"],
    });
  });

  it("is strict, and what is wrong is told as it is written", async () => {
    expect(
      await messagesOf(
        `{ mcpServers: { a: { comand: "x" }, b: { command: "x", timeout: "1s", disabled: true } } }`,
      ),
    ).toEqual([
      'FILE:1:22  mcpServers.a.comand  unknown key; did you mean "command"?',
      "FILE:1:65  mcpServers.b.timeout  is a string; expected a whole number of milliseconds from 1 to 86400000",
      'FILE:1:71  mcpServers.b.disabled  unknown key; use "enabled"',
    ]);
  });

  it.each([
    ["{ mcpServer: {} }", ['FILE:1:3  mcpServer  unknown key; did you mean "mcpServers"?']],
    ["{ mcpServers: [] }", ["FILE:1:15  mcpServers  is a list; expected an object"]],
    [
      "{ mcpServers: {}, servers: {} }",
      ['FILE:1:19  servers  means the same as "mcpServers"; expected only one of them'],
    ],
    [
      "{ servers: {}, agents: { defaults: { mcp: { servers: {} } } } }",
      [
        "FILE:1:3  servers  means the same as agents.defaults.mcp.servers; expected only one of them",
      ],
    ],
    ["{ servers: {}, agents: 1 }", ["FILE:1:24  agents  is a number; expected an object"]],
    [
      "{ servers: {}, agents: { defaults: { mcp: [] } } }",
      ["FILE:1:43  agents.defaults.mcp  is a list; expected an object"],
    ],
  ])("%s", async (text, expected) => {
    expect(await messagesOf(text)).toEqual(expected);
  });

  it("names the place of a rule and of a warning as they are written", async () => {
    const file = await writeConfig(
      `{ mcpServers: { a: { command: "npx", args: ["x"], tools: { deny: ["y"] } } } }`,
    );
    const { servers, warnings } = await loadConfig(file);
    expect(servers[0]?.guard?.rules).toEqual([{ place: "mcpServers.a.tools", deny: ["y"] }]);
    expect(warnings.map(({ path }) => path)).toEqual(["mcpServers.a.args"]);
  });
});

describe("our own file under another name", () => {
  it.each([
    "{ agents: { defaults: { mcp: { servers: { a: { comand: 'x' } } } } } }",
    "{ mcpServers: { a: { comand: 'x' } }, network: { allow: [] } }",
  ])("is known by our blocks, and as strict: %s", async (text) => {
    const file = join(temporaryDirectory(), "team.json");
    await writeFile(file, text);
    const error = await failure(() => loadConfig(file));
    expect(error.problems.map(({ message, suggestion }) => [message, suggestion])).toEqual([
      ["unknown key", "command"],
    ]);
  });

  it("may be empty", async () => {
    const file = join(temporaryDirectory(), "team.json");
    await writeFile(file, "{}");
    expect((await loadConfig(file)).servers).toEqual([]);
  });
});

describe("the content of a file", () => {
  it("is read without a file", async () => {
    const content = { mcpServers: { a: { command: "x", cwd: "sub", disabled: true } } };
    const agent = await loadConfigContent(content);
    expect(agent.servers).toMatchObject([{ name: "a", enabled: false, target: { cwd: "sub" } }]);
    expect(agent.file).toBeUndefined();
    expect(agent.notes?.map(formatProblem)).toEqual(["is read like a file of Claude Desktop"]);
  });

  it("that is wrong is told without a place", async () => {
    const error = await failure(() => loadConfigContent({ mcp_servers: { a: {} } }));
    expect(error.problems.map(formatProblem)).toEqual([
      'mcp_servers.a  has neither "command" nor "url"; expected one of them',
    ]);
  });

  it("that is no object is refused by the schema", async () => {
    expect((await readConfigContent([])).value).toEqual([]);
  });
});

it("a file keeps its text: reading writes nothing", async () => {
  const text = '{ // comment\n  "mcpServers": {} }';
  const file = join(temporaryDirectory(), ".mcp.json");
  await writeFile(file, text);
  const { value, asWritten } = await readConfigFile(file);
  expect(value).toMatchObject({ agents: { defaults: { mcp: { servers: {} } } } });
  const path = ["agents", "defaults", "mcp", "servers", "a", "url"];
  expect(asWritten({ path, at: "key", message: "" }).path).toEqual(["mcpServers", "a", "url"]);
});
