// The plugin for OpenClaw as it is packed: one file, with the built command behind it.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import type { PluginApi, PromptAddition } from "../../src/openclaw/plugin/openclaw.ts";
import { eventually, processesWith } from "../support/processes.ts";

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const home = mkdtempSync(join(tmpdir(), "plugboard-plugin-"));

afterAll(() => rmSync(home, { recursive: true, force: true }));

it("puts resources into a prompt and shows status, with one process, which ends with OpenClaw", async () => {
  const library = { command: process.execPath, args: [path("test/fixtures/servers/library.mjs")] };
  const servers = { lib: library, gone: { command: "no-such-program" } };
  writeFileSync(join(home, "plugboard.json"), JSON.stringify({ mcpServers: servers }));
  const marker = `PLUGBOARD_HOME=${home}`;
  const calls: {
    prompt?: () => Promise<PromptAddition | undefined>;
    status?: () => Promise<unknown>;
    command?: () => Promise<{ text: string }>;
    stop?: () => Promise<void>;
  } = {};
  const entry = {
    command: process.execPath,
    args: [path("dist/bin.cjs"), "serve"],
    env: { PLUGBOARD_HOME: home },
    cwd: home,
  };
  const api: PluginApi = {
    config: { mcp: { servers: { plugboard: entry } } },
    pluginConfig: { resources: true },
    logger: { info: () => {}, warn: () => {} },
    registerAgentToolResultMiddleware: () => expect.unreachable("nobody asked for frames"),
    on: (_, handler) => (calls.prompt = () => handler({}, { agentId: "main" })),
    registerGatewayMethod: (_, handler) =>
      (calls.status = () =>
        new Promise((resolve) => void handler({ respond: (_ok, payload) => resolve(payload) }))),
    registerCommand: ({ handler }) => (calls.command = handler),
    registerCli: () => {},
    registerService: ({ stop }) => (calls.stop = stop),
  };
  const { default: plugin } = await import(path("dist/openclaw-plugin/dist/index.js"));
  plugin.register(api);
  expect(processesWith(marker)).toEqual([]);

  const added = await calls.prompt?.();
  expect(added?.appendSystemContext).toMatch(/^# Resources from MCP servers[^]*Welcome to the lib/);
  expect(await calls.prompt?.()).toEqual(added);
  expect(await calls.status?.()).toMatchObject({
    servers: [
      { name: "lib", state: "ready" },
      { name: "gone", state: "failed", remedy: expect.stringContaining("install it") },
    ],
  });
  const shown = await calls.command?.();
  expect(shown?.text).toMatch(/lib {3}ready/);
  // The servers of the board do not have our variable.
  expect(processesWith(marker)).toHaveLength(1);
  await calls.stop?.();
  await eventually(() => processesWith(marker).length === 0);

  // Without resources in prompts, nothing runs on once somebody has looked.
  plugin.register({ ...api, pluginConfig: {} });
  const [first, second] = await Promise.all([calls.status?.(), calls.command?.()]);
  expect(first).toMatchObject({ servers: [{ name: "lib" }, { name: "gone" }] });
  expect(second?.text).toContain("lib");
  await eventually(() => processesWith(marker).length === 0);
});
