// What the plugin registers with OpenClaw, and what its manifest promises.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import plugin from "../../../src/openclaw/plugin/index.ts";
import type { PluginApi } from "../../../src/openclaw/plugin/openclaw.ts";
import { readConnection, readSettings } from "../../../src/openclaw/plugin/settings.ts";

const read = (path: string) =>
  JSON.parse(readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8"));
const manifest = read("src/openclaw/plugin/openclaw.plugin.json");
const own = read("src/openclaw/plugin/package.json");

/** Notes what is registered, as `kind name`. */
function registered(pluginConfig?: Record<string, unknown>): string[] {
  const noted: string[] = [];
  const api: PluginApi = {
    config: {},
    ...(pluginConfig && { pluginConfig }),
    logger: { info: () => {}, warn: () => {} },
    registerAgentToolResultMiddleware: (_, { runtimes }) =>
      noted.push(`middleware ${runtimes.join()}`),
    on: (hook, _, { timeoutMs }) => noted.push(`hook ${hook} ${timeoutMs}`),
    registerGatewayMethod: (method, _, { scope }) => noted.push(`method ${method} ${scope}`),
    registerCommand: ({ name, requireAuth }) => noted.push(`command ${name} ${requireAuth}`),
    registerCli: (_, { descriptors }) =>
      noted.push(`cli ${descriptors.map(({ name }) => name).join()}`),
    registerService: ({ id }) => noted.push(`service ${id}`),
  };
  plugin.register(api);
  return noted;
}

const STATUS = [
  "method plugboard.status operator.read",
  "command plugboard true",
  "cli plugboard",
  "service plugboard",
];

describe("the plugin registers", () => {
  it("status alone, as it comes", () => {
    expect(registered()).toEqual(STATUS);
  });

  it("framing and resources, where the operator wants them", () => {
    expect(registered({ frameOtherServers: true, resources: true })).toEqual([
      "middleware openclaw,codex",
      "hook before_prompt_build 12000",
      ...STATUS,
    ]);
  });
});

describe("the manifest", () => {
  it("has the versions of the package", () => {
    const { version } = read("package.json");
    expect([manifest.version, own.version]).toEqual([version, version]);
  });

  it("declares what the code registers, or OpenClaw would refuse it", () => {
    expect(manifest.id).toBe(plugin.id);
    expect(manifest.description).toBe(plugin.description);
    expect(manifest.contracts).toEqual({ agentToolResultMiddleware: ["openclaw", "codex"] });
    expect(manifest.cliCommands.map(({ name }: { name: string }) => name)).toEqual(["plugboard"]);
    expect(own.openclaw.extensions).toEqual(["./dist/index.js"]);
  });

  it("has a server that the code reaches in the same way", () => {
    const { command, args } = manifest.mcpServers.plugboard;
    expect(readConnection({}, "/plugin")).toMatchObject({ kind: "stdio", command, args });
    expect(Object.keys(manifest.mcpServers)).toEqual(["plugboard"]);
  });

  it("has the settings and defaults of the code, each with a label", () => {
    const { properties } = manifest.configSchema;
    const defaults = Object.entries<{ default: unknown }>(properties).map(([key, schema]) => [
      key,
      schema.default,
    ]);
    const settings = readSettings(undefined);
    expect(Object.fromEntries(defaults)).toEqual({
      ...settings,
      leaveUnframed: [...settings.leaveUnframed],
    });
    expect(Object.keys(manifest.uiHints)).toEqual(Object.keys(properties));
  });
});
