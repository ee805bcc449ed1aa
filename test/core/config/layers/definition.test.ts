import { describe, expect, it } from "vitest";
import { loadConfig } from "../../../../src/core/config/load.ts";
import { parseAgentConfig } from "../../../../src/core/config/parse.ts";
import type { ServerConfig } from "../../../../src/core/types/server-config.ts";
import type { ResourceSettings } from "../../../../src/core/types/server-definition.ts";
import { writeConfig } from "../files.ts";

describe("the resource settings of a server", () => {
  it.each<[ServerConfig, ResourceSettings | undefined]>([
    [{}, undefined],
    [{ resources: true }, { enabled: true, filter: [], refreshMs: 300_000 }],
    [{ resources: "context" }, { enabled: true, filter: [], refreshMs: 300_000 }],
    [{ resources: "list" }, { enabled: true, listOnly: true, filter: [], refreshMs: 300_000 }],
    [{ resources: false }, { enabled: false, filter: [], refreshMs: 300_000 }],
    [{ resourceFilter: ["a:*"] }, { enabled: true, filter: ["a:*"], refreshMs: 300_000 }],
    [{ resourceRefreshMs: 0 }, { enabled: true, filter: [], refreshMs: 0 }],
  ])("%j", (config, resources) => {
    const { servers, warnings } = parseAgentConfig({ servers: { x: { command: "x", ...config } } });
    expect(servers[0]?.resources).toEqual(resources);
    expect(warnings).toEqual([]);
  });

  it("are merged key by key", async () => {
    const file = await writeConfig(`{ agents: {
      defaults: { mcp: { servers: { x: { command: "x", resourceFilter: ["a"], resourceRefreshMs: 5000 } } } },
      list: [{ id: "it", mcp: { servers: { x: { resourceFilter: ["b"], resources: true } } } }] } }`);
    const { servers } = await loadConfig(file, "it");
    expect(servers[0]?.resources).toEqual({ enabled: true, filter: ["b"], refreshMs: 5000 });
  });
});
