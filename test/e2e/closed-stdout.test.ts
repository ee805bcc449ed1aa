// What becomes of a command when only its stdout is closed: it ends, leaves nothing behind, and its exit code says how it went
// as far as it got. Needs the build.

import { expect, it } from "vitest";
import { useAgents } from "./acp-agent.ts";
import { useCommands } from "./commands.ts";

const desk = useAgents();
const commands = useCommands(desk);

function configure(): void {
  const servers = { echo: desk.configured("echo"), content: desk.configured("content") };
  commands.configure({ agents: { defaults: { mcp: { servers } } } });
}

it.each<[code: number, words: string[]]>([
  [0, ["call", "echo/echo", "text=hi"]],
  [0, ["tools", "--json"]],
  [1, ["call", "content/error", "--json"]],
  [2, ["call", "echo/none", "--json"]],
  [2, ["tools", "--server", "none", "--json"]],
])("ends with %i: plugboard %j", async (code, words) => {
  configure();
  const command = commands.run(...words);
  command.process.stdout.destroy();
  expect(await command.exited).toBe(code);
  expect(command.stderr).not.toContain("EPIPE");
});

it.each([
  [
    "serve",
    { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } },
  ],
  ["acp", { protocolVersion: 1, clientCapabilities: {} }],
])(
  "plugboard %s ends as soon as an answer cannot be written, though its stdin stays open",
  async (name, params) => {
    configure();
    const client = commands.run(name);
    client.process.stdout.destroy();
    const request = { jsonrpc: "2.0", id: 1, method: "initialize", params };
    client.process.stdin.write(`${JSON.stringify(request)}\n`);
    expect(await client.exited).toBe(0);
    expect(client.process.stdin.writableEnded).toBe(false);
  },
);
