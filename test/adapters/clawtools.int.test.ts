// MCP servers in a registry of clawtools: registries that forget and that cannot, real servers.

import { realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import type { BoardConfig } from "../../src/core/types/agent-config.ts";
import {
  type ClawTool,
  type ClawToolRegistry,
  type ClawToolResult,
  type LoadOptions,
  loadMCPServers,
  type MCPToolProvider,
} from "../../src/adapters/clawtools.ts";
import { startMcpHttp } from "../fixtures/http/mcp.ts";
import { fixture, reaches } from "../support/boards.ts";
import { eventually, expectNoProcesses } from "../support/processes.ts";
import { expectedOf, SCRIPT, SCRIPT_NATIVE, SCRIPT_SERVERS, type Seen, seenOf } from "./script.ts";
import { temporaryDirectory } from "../support/directory.ts";

type Config = Parameters<typeof loadMCPServers>[0];

/** Append-only, as the least that is asked of a registry. */
class Registry implements ClawToolRegistry {
  readonly tools = new Map<string, ClawTool>();
  registered = 0;

  register(tool: ClawTool): void {
    this.registered += 1;
    this.tools.set(tool.name, tool);
  }

  names(): string[] {
    return [...this.tools.keys()];
  }

  get(name: string): ClawTool {
    const tool = this.tools.get(name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    return tool;
  }
}

/** As clawtools has it: what is listed is copied when it is registered. */
class ForgetfulRegistry extends Registry {
  readonly descriptions = new Map<string, string>();

  override register(tool: ClawTool): void {
    super.register(tool);
    this.descriptions.set(tool.name, tool.description);
  }

  unregister(name: string): boolean {
    return this.tools.delete(name);
  }
}

/** A tool of the host itself. */
const dummy: ClawTool = {
  name: "",
  label: "",
  description: "",
  parameters: {},
  source: { kind: "native" },
  execute: async () => ({ content: [], details: undefined }),
};

const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
  expectNoProcesses();
});

async function load(
  config: Config,
  registry: ClawToolRegistry,
  options?: LoadOptions,
): Promise<MCPToolProvider> {
  const provider = await loadMCPServers(config, registry, options);
  opened.push(provider);
  return provider;
}

/** A file that is gone after the test. */
async function writeScratch(content: string): Promise<string> {
  const directory = temporaryDirectory();
  const file = join(directory, "mcp.json");
  await writeFile(file, content);
  return file;
}

function textOf({ content }: ClawToolResult): string {
  return content.map((block) => (block.type === "text" ? block.text : block.type)).join("\n");
}

function seen(result: ClawToolResult): Seen {
  const { content, isError = false } = result;
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const media = content.flatMap((block) => (block.type === "image" ? [block.mimeType] : []));
  const { isError: inWords, ...rest } = seenOf(texts, media);
  expect(inWords, "the words and the flag agree").toBe(isError);
  return { ...rest, isError };
}

describe("loadMCPServers", () => {
  it("gives the results of the script", async () => {
    const registry = new Registry();
    const servers = SCRIPT_SERVERS;
    await load({ servers, toolNames: "mcp__{server}__{tool}" }, registry, {
      native: SCRIPT_NATIVE,
    });
    const results = await Promise.all(
      SCRIPT.map(({ name, args }, at) => registry.get(name).execute(`call_${at}`, args)),
    );
    expect(results.map(seen)).toEqual(SCRIPT.map((call) => expectedOf(call, ["image", "blob"])));
  });

  it("registers every tool under server__tool, as clawtools describes one", async () => {
    const registry = new Registry();
    await load({ servers: { echo: { type: "stdio", ...fixture("echo") } } }, registry);
    expect(registry.names()).toContain("echo__add");
    expect({ ...registry.get("echo__add") }).toMatchObject({
      name: "echo__add",
      label: "MCP: echo/add",
      description: "[echo] Adds two numbers.",
      parameters: { type: "object", required: ["a", "b"] },
      annotations: { readOnlyHint: true },
    });
    expect(registry.get("echo__sleep").annotations).toBeUndefined();
  });

  it("keeps a colon that the template asks for, and calls the tool by that name", async () => {
    const registry = new Registry();
    const servers = { "dev-tools": fixture("echo") };
    await load({ servers, toolNames: "mcp:{server}:{tool}" }, registry);
    const tool = registry.get("mcp:dev-tools:echo");
    expect(await tool.execute("1", { text: "hi" })).toMatchObject({
      content: [{ text: expect.stringContaining("hi") as string }],
    });
  });

  it.each([true, false])(
    "with owner: %s, tools that a rule keeps for the owner are marked as such, or not there",
    async (owner) => {
      const registry = new Registry();
      const servers = { echo: { ...fixture("echo"), tools: { ownerOnly: ["add"] } } };
      const native = [{ ...SCRIPT_NATIVE[0]!, name: "own", ownerOnly: true }];
      await load({ servers }, registry, { owner, native });
      const marks = ["echo__add", "echo__sleep", "own"].map((name) =>
        registry.names().includes(name)
          ? [registry.get(name).ownerOnly, registry.get(name).source]
          : "not there",
      );
      const sleep = { kind: "mcp", server: "echo", tool: "sleep" };
      expect(marks).toEqual(
        owner
          ? [
              [true, { kind: "mcp", server: "echo", tool: "add" }],
              [undefined, sleep],
              [true, { kind: "native" }],
            ]
          : ["not there", [undefined, sleep], "not there"],
      );
    },
  );

  it("gives schemas that the provider accepts, and arguments that the server does", async () => {
    const registry = new Registry();
    await load({ servers: { echo: fixture("echo") } }, registry, { provider: "openai-strict" });
    const progress = registry.get("echo__progress");
    // Only these rules close an object and require every property of it.
    const { properties } = progress.parameters as { properties: object };
    expect(progress.parameters).toMatchObject({
      additionalProperties: false,
      required: Object.keys(properties),
    });
    const done = await progress.execute("1", { steps: 1, ms: 1 });
    expect(done.isError).toBeUndefined();
  });

  it("refuses a provider that does not exist, before anything starts", async () => {
    const loading = load({ servers: { echo: fixture("echo") } }, new Registry(), {
      provider: "gemini" as never,
    });
    await expect(loading).rejects.toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: "there are no rules for the provider 'gemini'",
      hint: "use openai, anthropic, generic, openai-strict, google",
    });
    expectNoProcesses();
  });

  it("keeps the raw outcome in the details", async () => {
    const registry = new Registry();
    await load({ servers: { echo: fixture("echo") } }, registry);
    expect(await registry.get("echo__add").execute("call_1", { a: 2, b: 3 })).toMatchObject({
      details: { content: [{ type: "text", text: "5" }], structuredContent: { sum: 5 } },
    });
  });

  it("runs a server in its workingDir, or else in the workspace", async () => {
    const directory = temporaryDirectory();
    const registry = new Registry();
    const servers = { here: fixture("echo"), there: { ...fixture("echo"), workingDir: tmpdir() } };
    await load({ servers }, registry, { workspaceDir: directory });
    expect(textOf(await registry.get("here__cwd").execute("1", {}))).toContain(directory);
    const there = textOf(await registry.get("there__cwd").execute("2", {}));
    expect(there).toContain(await realpath(tmpdir()));
    expect(there).not.toContain(directory);
  });

  it.each([
    [{ type: "bearer", token: "t0ken" }, "authorization", "Bearer t0ken"],
    [{ type: "api-key", key: "k3y" }, "x-api-key", "k3y"],
  ] as const)("reaches a streamable-http server with %o", async (auth, header, value) => {
    const server = await startMcpHttp();
    opened.push(server);
    const registry = new Registry();
    const { url } = server;
    const servers = { remote: { type: "streamable-http" as const, url, auth } };
    const provider = await load({ servers }, registry);
    expect(provider.status()).toEqual({ remote: "connected" });
    expect(registry.names().length).toBeGreaterThan(0);
    expect(server.requests.map(({ headers }) => headers[header])).toContain(value);
  });

  it("says how each server is doing", async () => {
    const provider = await load(
      {
        servers: {
          up: fixture("echo"),
          off: { ...fixture("echo"), enabled: false },
          missing: { command: "plugboard-no-such-command" },
          slow: fixture("never-initialize"),
        },
        startupWait: 0,
      },
      new Registry(),
    );
    await Promise.all([
      reaches(provider.board, "up", "ready"),
      reaches(provider.board, "missing", "failed"),
    ]);
    expect(provider.status()).toEqual({
      up: "connected",
      off: "disconnected",
      missing: "error",
      slow: "connecting",
    });
    await provider.close();
    await provider.close();
    expect(provider.status()).toMatchObject({ up: "disconnected", slow: "disconnected" });
  });

  it("rejects for a configuration that is wrong, with or without sampling", async () => {
    const wrong = { servers: { bad: "npx" } } as unknown as Config;
    const rejected = { code: "CONFIG_INVALID" };
    await expect(loadMCPServers(wrong, new Registry())).rejects.toMatchObject(rejected);
    const options = { onSamplingRequest: () => "declined" as const };
    await expect(loadMCPServers(wrong, new Registry(), options)).rejects.toMatchObject(rejected);
    const none = {} as Config;
    await expect(loadMCPServers(none, new Registry(), options)).rejects.toMatchObject(rejected);
    const foreign = { context_servers: { bad: "npx" } };
    await expect(loadMCPServers(foreign, new Registry())).rejects.toMatchObject(rejected);
    await expect(loadMCPServers("no such file", new Registry())).rejects.toMatchObject(rejected);
  });

  type Servers = BoardConfig["servers"];
  it.each<[string, (servers: Servers) => Config | Promise<Config>]>([
    ["servers", (servers) => ({ servers })],
    ["the content of another application's file", (servers) => ({ mcpServers: servers })],
    ["the path of a file", (servers) => writeScratch(JSON.stringify({ mcpServers: servers }))],
  ])("with %s lets servers ask a model, unless they are denied it", async (_, toConfig) => {
    const registry = new Registry();
    const asked: unknown[] = [];
    const config = await toConfig({
      quiet: fixture("server-requests"),
      denied: { ...fixture("server-requests"), sampling: "deny" },
    });
    await load(config, registry, {
      onSamplingRequest(request) {
        asked.push(request);
        return { model: "scripted", content: { type: "text", text: "Hello." } };
      },
    });
    const answersOf = async (server: string): Promise<unknown> =>
      (await registry.get(`${server}__answers`).execute("1", {})).details;
    expect(await answersOf("quiet")).toMatchObject({
      structuredContent: {
        "sampling/createMessage": { model: "scripted", content: { text: "Hello." } },
      },
    });
    expect(await answersOf("denied")).toMatchObject({
      structuredContent: { "sampling/createMessage": { code: -32601 } },
    });
    expect(asked).toMatchObject([{ server: "quiet", approvalRequired: true }]);
  });

  it("tells servers of the workspace as their root, and lets none ask a model unasked", async () => {
    const registry = new Registry();
    const workspaceDir = tmpdir();
    await load({ servers: { asks: fixture("server-requests") } }, registry, { workspaceDir });
    expect(await registry.get("asks__answers").execute("1", {})).toMatchObject({
      details: {
        structuredContent: {
          "roots/list": { roots: [{ uri: pathToFileURL(workspaceDir).href }] },
          "sampling/createMessage": { code: -32601 },
        },
      },
    });
  });

  it("passes on signs of life, and cancels", async () => {
    const registry = new Registry();
    const provider = await load({ servers: { echo: fixture("echo") } }, registry);
    const heard: ClawToolResult[] = [];
    const steps = { steps: 1, ms: 1 };
    await registry
      .get("echo__progress")
      .execute("1", steps, undefined, (partial) => heard.push(partial));
    expect(heard).toMatchObject([
      { content: [{ text: "step 1 of 1" }], details: { progress: { progress: 1 } } },
    ]);
    const giveUp = new AbortController();
    const sleeping = registry.get("echo__sleep").execute("2", { ms: 600_000 }, giveUp.signal);
    await eventually(() => provider.board.status()[0]?.calls.inFlight === 1);
    giveUp.abort();
    expect(textOf(await sleeping)).toContain("the call was cancelled");
  });

  it("closes with its signal", async () => {
    const registry = new Registry();
    const life = new AbortController();
    const { signal } = life;
    const provider = await load({ servers: { echo: fixture("echo") } }, registry, { signal });
    life.abort();
    await provider.close();
    expect(await registry.get("echo__echo").execute("1", { text: "hi" })).toMatchObject({
      isError: true,
    });
  });

  it.each(["close", "signal"])(
    "leaves nothing in the registry that is dead, after its %s",
    async (how) => {
      const registry = new ForgetfulRegistry();
      registry.register({ ...dummy, name: "host" });
      const life = new AbortController();
      const { signal } = life;
      const provider = await load({ servers: { echo: fixture("echo") } }, registry, { signal });
      expect(registry.names()).toContain("echo__echo");
      if (how === "signal") life.abort();
      else await Promise.all([provider.close(), provider.close()]);
      expect(registry.names()).toEqual(["host"]);
      await provider.close();
      await provider.refresh().catch(() => {});
      expect(registry.names()).toEqual(["host"]);
    },
  );

  it("throws failures for a loop that looks no further", async () => {
    const registry = new Registry();
    await load({ servers: { echo: fixture("echo") } }, registry, { errors: "throw" });
    await expect(registry.get("echo__fail").execute("1", {})).rejects.toMatchObject({
      code: "TOOL_FAILED",
      message: expect.stringMatching(/^The call failed:\n[^]*it failed/),
      cause: { isError: true },
    });
  });

  it("goes on without a tool that the registry does not take", async () => {
    const registry = new Registry();
    const told: unknown[] = [];
    const picky: ClawToolRegistry = {
      register(tool) {
        if (tool.name === "echo__add") throw new Error("taken");
        registry.register(tool);
      },
    };
    await load({ servers: { echo: fixture("echo") } }, picky, {
      onDiagnostic: (each) => told.push(each),
    });
    expect(registry.names()).toContain("echo__echo");
    expect(registry.names()).not.toContain("echo__add");
    expect(told).toMatchObject([
      { server: "echo", subject: "echo__add", message: expect.stringContaining("(taken)") },
    ]);
  });
});

describe("when a server changes its tools", () => {
  const SERVERS = { list: fixture("list-changed"), other: fixture("echo") };

  interface Loaded {
    changed: string[];
    /** Makes the server swap `before` for `after`, or back; resolves when the registry knows. */
    swap: () => Promise<void>;
  }

  async function loadInto(registry: Registry): Promise<Loaded> {
    const changed: string[] = [];
    const options = { onToolsChanged: (id: string) => changed.push(id) };
    const { board } = await load({ servers: SERVERS }, registry, options);
    expect(changed).toEqual([]);
    const swap = async (): Promise<void> => {
      const heard = new Promise<void>((resolve) => {
        const off = board.on("tools", () => {
          off();
          resolve();
        });
      });
      await registry.get("list__swap").execute("swap", {});
      await heard;
    };
    return { changed, swap };
  }

  it("a registry that cannot forget keeps the tool, which says that it is gone", async () => {
    const registry = new Registry();
    const { changed, swap } = await loadInto(registry);
    const { registered } = registry;
    const before = registry.get("list__before");

    await swap();
    expect(changed).toEqual(["list"]);
    expect(registry.names()).toEqual(expect.arrayContaining(["list__before", "list__after"]));
    expect(await before.execute("1", { text: "hi" })).toMatchObject({
      isError: true,
      content: [
        {
          text: "The call failed:\n'list__before' is gone: server 'list' does not offer it any more; use another tool",
        },
      ],
    });
    expect(textOf(await registry.get("list__after").execute("2", { text: "hi" }))).toContain("hi");
    expect(registry.get("list__stays").description).toBe("[list] Changed.");

    await swap();
    expect(textOf(await before.execute("3", { text: "back" }))).toContain("back");
    expect(registry.get("list__stays").description).toBe("[list] Unchanged.");
    expect(registry.registered, "each tool once").toBe(registered + 1);
  });

  it("a registry that forgets lists what there is, in the same order", async () => {
    const registry = new ForgetfulRegistry();
    const { swap } = await loadInto(registry);
    const before = registry.get("list__before");
    const staying = registry.names().filter((name) => name !== "list__before");

    await swap();
    expect(registry.names()).toEqual([...staying, "list__after"]);
    expect(registry.descriptions.get("list__stays")).toBe("[list] Changed.");
    expect(await before.execute("1", { text: "hi" })).toMatchObject({ isError: true });

    await swap();
    expect(registry.names()).toEqual([...staying, "list__before"]);
    expect(registry.get("list__before")).toBe(before);
  });

  it("refresh asks the servers again", async () => {
    const registry = new Registry();
    const provider = await load({ servers: { echo: fixture("echo") } }, registry);
    await provider.refresh();
    expect(provider.status()).toEqual({ echo: "connected" });
    expect(textOf(await registry.get("echo__echo").execute("1", { text: "still" }))).toContain(
      "still",
    );
  });
});
