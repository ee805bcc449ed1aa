// The servers that a session brings, and the defaults for them.

import { describe, expect, it } from "vitest";
import { loadConfig } from "../../../src/core/config/load.ts";
import { parseAgentConfig } from "../../../src/core/config/parse.ts";
import { parseSessionServers } from "../../../src/core/config/session.ts";
import type { SessionServerConfig } from "../../../src/core/types/server-config.ts";
import { failure, writeConfig } from "./files.ts";

const HERE = "/srv/project";

describe("the servers of a session", () => {
  it("are definitions of their own origin, with an hour until they are idle", () => {
    const { definitions, warnings } = parseSessionServers(
      {
        files: { command: "files", cwd: "sub", scope: "session" },
        docs: { type: "http", url: "https://example.com/mcp", headers: { A: "b" }, timeout: 5000 },
      },
      undefined,
      HERE,
    );
    expect(warnings).toEqual([]);
    expect(definitions).toMatchObject([
      {
        name: "files",
        origin: "session",
        target: { kind: "stdio", command: "files", cwd: "sub", baseDir: HERE },
        timeout: 30_000,
        idleTimeout: 3_600_000,
      },
      { name: "docs", origin: "session", target: { kind: "http" }, timeout: 5000 },
    ]);
    expect(definitions[0]).not.toHaveProperty("scope");
  });

  it("idle after an hour like those that the configuration gives to each session", () => {
    const { servers } = parseAgentConfig({
      servers: {
        each: { command: "x", scope: "session" },
        never: { command: "x", scope: "session", idleTimeout: 0 },
        shared: { command: "x" },
      },
    });
    expect(servers.map(({ idleTimeout }) => idleTimeout)).toEqual([3_600_000, 0, 0]);
  });

  it("have the defaults of the board unless they have their own", () => {
    const { session } = parseAgentConfig({
      servers: {},
      session: {
        timeout: 1000,
        toolTimeout: 2000,
        idleTimeout: 0,
        rateLimit: 7,
        tools: { deny: ["delete_*"] },
      },
    });
    const { definitions } = parseSessionServers(
      {
        x: { command: "x", timeout: 9000, rateLimit: { tools: { a: 1 } }, tools: { deny: ["b"] } },
      },
      session,
      HERE,
    );
    expect(definitions).toMatchObject([
      {
        timeout: 9000,
        toolTimeout: 2000,
        idleTimeout: 0,
        guard: {
          rateLimit: { default: 7, tools: { a: 1 } },
          rules: [
            { place: "session.tools", deny: ["delete_*"] },
            { place: "servers.x.tools", deny: ["b"] },
          ],
        },
      },
    ]);
  });

  it("are refused with everything that is wrong", async () => {
    const servers = { "": { command: "x" }, native: { command: "x" }, y: { url: "nowhere" } };
    const { code, problems } = await failure(() => parseSessionServers(servers, undefined, HERE));
    expect(code).toBe("CONFIG_INVALID");
    expect(problems.map(({ path }) => path)).toEqual([
      'servers[""]',
      "servers.native",
      "servers.y.url",
    ]);
  });

  it("can be in the ACP client, if there is a way to it, and keep their place among the others", () => {
    const { session } = parseAgentConfig({
      servers: {},
      session: { timeout: 1000, protocol: "legacy", tools: { deny: ["delete_*"] } },
    });
    const { definitions, warnings } = parseSessionServers(
      {
        a: { command: "x" },
        shop: { transport: "acp", serverId: "shop:${HOME}", toolTimeout: 500 },
        b: { command: "y" },
      },
      session,
      HERE,
      true,
    );
    expect(warnings).toEqual([]);
    expect(definitions.map(({ name }) => name)).toEqual(["a", "shop", "b"]);
    expect(definitions[1]).toMatchObject({
      origin: "session",
      target: { kind: "acp", serverId: "shop:${HOME}" },
      timeout: 1000,
      toolTimeout: 500,
      protocol: "2026-07-28",
      guard: { rules: [{ deny: ["delete_*"] }] },
    });
  });

  it.each<[server: object, reachesClient: boolean, path: string, message: string]>([
    [
      { transport: "acp", serverId: "1" },
      false,
      "servers.shop",
      'has the transport acp, and the session has no way to the client; expected "sendMcpMessage" in its options',
    ],
    [{ transport: "acp" }, true, "servers.shop.serverId", "is missing"],
    [{ transport: "acp", serverId: "" }, true, "servers.shop.serverId", "is an empty string"],
    [{ transport: "acp", serverId: "1", url: "https://x.io" }, true, "servers.shop.url", ""],
    [{ type: "acp", serverId: "1" }, true, "servers.shop.type", "only the editor itself can bring"],
  ])("in the ACP client are refused: %j", async (server, reachesClient, path, message) => {
    const servers = { shop: server as SessionServerConfig };
    const { problems } = await failure(() =>
      parseSessionServers(servers, undefined, HERE, reachesClient),
    );
    expect(problems[0]).toMatchObject({ path, message: expect.stringContaining(message) });
  });

  it("warn about keys without effect", () => {
    const servers = { x: { command: "x", headers: { A: "b" } } };
    expect(parseSessionServers(servers, undefined, HERE).warnings).toEqual([
      "servers.x.headers  has no effect on a stdio server",
    ]);
  });
});

describe("the defaults for them", () => {
  it("of an agent are laid over those of all agents; the rules of both count", async () => {
    const file = await writeConfig(`{ agents: {
      defaults: { mcp: { session: { timeout: 1000, lazy: true, tools: { deny: ["a"] } } } },
      list: [{ id: "b", mcp: { session: { timeout: 2000, tools: { deny: ["c"] } } } }] } }`);
    expect((await loadConfig(file)).session).toMatchObject({
      settings: { timeout: 1000, lazy: true },
      rules: [{ place: "agents.defaults.mcp.session.tools", deny: ["a"] }],
    });
    expect((await loadConfig(file, "b")).session).toMatchObject({
      settings: { timeout: 2000, lazy: true },
      rules: [
        { place: "agents.defaults.mcp.session.tools", deny: ["a"] },
        { place: "agents.list[0].mcp.session.tools", deny: ["c"] },
      ],
    });
  });

  it("are absent where none are configured", async () => {
    expect((await loadConfig(await writeConfig("{}"))).session).toBeUndefined();
  });

  it("may not say how to reach a server", async () => {
    const config = { servers: {}, session: { command: "x" } as object };
    expect((await failure(() => parseAgentConfig(config))).problems).toMatchObject([
      { path: "session.command" },
    ]);
  });
});
