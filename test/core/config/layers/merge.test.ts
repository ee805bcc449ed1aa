import { describe, expect, it } from "vitest";
import { loadConfig } from "../../../../src/core/config/load.ts";
import { writeConfig } from "../files.ts";

const BASE = `{
  shell: { command: "run", args: ["a"], env: { A: "1", B: "2" }, cwd: "/x", timeout: 5000, lazy: true },
  web: { type: "http", url: "https://example.com/a", headers: { Authorization: "x", Other: "y" }, timeout: 6000 },
}`;

/** The servers of an agent whose overrides are `servers`. */
async function mergedWith(servers: string, settings = "") {
  const file = await writeConfig(`{ agents: {
    defaults: { workspace: "/base", mcp: { toolNames: "{server}__{tool}", startupWait: 100, servers: ${BASE} } },
    list: [{ id: "other" }, { id: "it", ${settings} mcp: { servers: ${servers} } }],
  } }`);
  return loadConfig(file, "it");
}

async function mergedServer(servers: string, name: string) {
  const config = await mergedWith(servers);
  return config.servers.find((server) => server.name === name);
}

describe("an agent's servers", () => {
  it("are the defaults where it has none", async () => {
    const { servers } = await mergedWith("{}");
    expect(servers.map(({ name, origin }) => [name, origin])).toEqual([
      ["shell", "defaults"],
      ["web", "defaults"],
    ]);
  });

  it("are the defaults in their order, then its own in theirs", async () => {
    const { servers } = await mergedWith(
      "{ z: { command: 'z' }, web: { lazy: true }, a: { command: 'a' } }",
    );
    expect(servers.map(({ name, origin }) => [name, origin])).toEqual([
      ["shell", "defaults"],
      ["web", "agent"],
      ["z", "agent"],
      ["a", "agent"],
    ]);
  });

  it("are overridden key by key", async () => {
    expect(await mergedServer("{ shell: { timeout: 700, args: ['b'] } }", "shell")).toMatchObject({
      timeout: 700,
      lazy: true,
      target: { command: "run", args: ["b"], cwd: "/x" },
    });
  });

  it("can be switched off", async () => {
    expect(await mergedServer("{ shell: { enabled: false } }", "shell")).toMatchObject({
      enabled: false,
      target: { command: "run" },
    });
  });

  it("have their env merged variable by variable", async () => {
    const server = await mergedServer("{ shell: { env: { B: '3', C: '4' } } }", "shell");
    expect(server?.target).toMatchObject({ env: { A: "1", B: "3", C: "4" } });
  });

  it("have their headers merged one by one, whatever the case of the names", async () => {
    const server = await mergedServer(
      "{ web: { headers: { authorization: 'z', New: 'n' } } }",
      "web",
    );
    expect(server?.target).toMatchObject({
      headers: { Other: "y", authorization: "z", New: "n" },
    });
    expect(Object.keys(server?.target.kind === "http" ? server.target.headers : {})).toHaveLength(
      3,
    );
  });

  it("keep the transport of the defaults under a new URL", async () => {
    expect(
      (await mergedServer("{ web: { url: 'https://example.com/b' } }", "web"))?.target,
    ).toEqual({
      kind: "http",
      url: "https://example.com/b",
      headers: { Authorization: "x", Other: "y" },
      allowInsecure: false,
      allowPrivate: false,
    });
  });

  it("keep the connection from one remote transport to the other", async () => {
    expect((await mergedServer("{ web: { transport: 'sse' } }", "web"))?.target).toMatchObject({
      kind: "sse",
      url: "https://example.com/a",
    });
  });

  it.each([
    [
      "a command to a URL",
      "shell",
      "{ url: 'https://example.com/c' }",
      { kind: "remote", url: "https://example.com/c", headers: {} },
      5000,
    ],
    [
      "a URL to a command",
      "web",
      "{ command: 'own', env: { C: '3' } }",
      { kind: "stdio", command: "own", args: [], env: { C: "3" } },
      6000,
    ],
  ])(
    "lose the connection, not the rest, when changed from %s",
    async (_, name, keys, target, timeout) => {
      const server = await mergedServer(`{ ${name}: ${keys} }`, name);
      expect(server?.target).toEqual(expect.objectContaining(target));
      expect(server?.timeout).toBe(timeout);
    },
  );
});

describe("an agent's settings", () => {
  it("are those of the defaults", async () => {
    expect(await mergedWith("{}")).toMatchObject({
      agentId: "it",
      toolNames: "{server}__{tool}",
      startupWait: 100,
      workspace: "/base",
    });
  });

  it("are its own where it has some", async () => {
    const file = await writeConfig(`{ agents: {
      defaults: { workspace: "/base", mcp: { toolNames: "{server}__{tool}", startupWait: 100 } },
      list: [{ id: "it", workspace: "/own", mcp: { toolNames: "{tool}_{server}", startupWait: 200 } }],
    } }`);
    expect(await loadConfig(file, "it")).toMatchObject({
      toolNames: "{tool}_{server}",
      startupWait: 200,
      workspace: "/own",
    });
    expect(await loadConfig(file, "default")).toMatchObject({
      agentId: "default",
      toolNames: "{server}__{tool}",
      workspace: "/base",
    });
  });
});
