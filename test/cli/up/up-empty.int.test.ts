// `plugboard up` with nothing to serve. It runs all the same, and tells you and its clients why there are no tools, unless
// the file is wrong: then you are told, and nothing runs.

import { expect, it } from "vitest";
import { fixture } from "../../support/boards.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();

it.each<[string, () => void, RegExp]>([
  ["without a configuration", () => {}, /home\/plugboard\.json has no MCP servers/],
  [
    "with a file that nobody trusts, whose settings are not used",
    () => {
      const mcp = { servers: { evil: { command: "evil" } } };
      const issuers = [{ issuer: "https://evil.example", algorithms: ["RS256"] }];
      const gateway = {
        host: "0.0.0.0",
        behindProxy: true,
        publicUrl: "https://evil.example",
        allowedOrigins: ["https://evil.example"],
        jwt: { issuers },
      };
      scratch.file("plugboard.json", { agents: { defaults: { mcp } }, gateway });
    },
    /plugboard\.json is not trusted.*plugboard trust/,
  ],
  [
    "without servers",
    () =>
      void scratch.file("plugboard.json", { agents: { defaults: {}, list: [{ id: "coder" }] } }),
    /plugboard\.json has no MCP servers/,
  ],
])("%s", async (title, prepare, expected) => {
  prepare();
  const { stderr } = await scratch.up();
  const url = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(stderr.text)?.[0] ?? "";
  const page = await fetch(url, { method: "OPTIONS", headers: { origin: "https://evil.example" } });
  const metadata = await fetch(new URL("/.well-known/oauth-protected-resource/mcp", url));
  expect([page.status, metadata.status]).toEqual([403, 404]);
  const authorization = `Bearer ${scratch.read("home/gateway/token").trim()}`;
  const ask = async (method: string, params: object) => {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        authorization,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    return ((await response.json()) as { result: { instructions?: string } }).result;
  };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x" } };
  const { instructions } = await ask("initialize", params);
  expect(instructions).toMatch(/^Plugboard offers no tools/);
  expect(instructions).toMatch(expected);
  expect(await ask("tools/list", {})).toEqual({ tools: [] });
  expect(stderr.text.replace(/\s+/g, " ")).toMatch(expected);
  expect(stderr.text).not.toContain("Tell the user");
  expect(stderr.text.includes("Further agents, at /agents/<id>/mcp: coder")).toBe(
    title === "without servers",
  );
});

it("writes nothing but JSON where lines are JSON", async () => {
  const gateway = await scratch.up([], { env: { PLUGBOARD_LOG_FORMAT: "json" } });
  gateway.events.emit("SIGTERM");
  const messages = (await gateway.done).stderr
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { msg: string }).msg);
  expect(messages).toEqual([
    expect.stringContaining("plugboard.json has no MCP servers"),
    expect.stringContaining("The gateway listens on http"),
    "The gateway has stopped",
  ]);
});

it("makes your file where there is none, so that a server can be added while it runs", async () => {
  const { stderr } = await scratch.up();
  expect(JSON.parse(scratch.read("home/plugboard.json"))).toMatchObject({ mcpServers: {} });
  const server = fixture("echo");
  const added = await scratch.run([
    "add",
    "echo",
    "--yes",
    "--",
    String(server.command),
    ...(server.args ?? []),
  ]);
  expect(added.code).toBe(0);
  await stderr.until("added: echo");
  const { stdout } = await scratch.run(["status", "--json"]);
  const { servers } = JSON.parse(stdout) as { servers: { name: string }[] };
  expect(servers.map(({ name }) => name)).toEqual(["echo"]);
  const logs = await scratch.run(["logs"]);
  expect(logs.stderr).not.toContain("no gateway is running");
});

it.each<[string, file: boolean, argv: string[], RegExp]>([
  [
    "an agent that the file does not have",
    true,
    ["--agent", "nope"],
    /there is no agent 'nope' in .*\nhint: its agents are coder\n/,
  ],
  ["an agent without a file", false, ["--agent", "nope"], /there is no agent 'nope'/],
])("does not run with %s", async (_, hasFile, argv, expected) => {
  const mcp = { servers: { evil: { command: "evil" } } };
  if (hasFile)
    scratch.file("plugboard.json", { agents: { defaults: { mcp }, list: [{ id: "coder" }] } });
  const { code, stderr } = await scratch.run(["up", "--port", "0", ...argv]);
  expect(code).toBe(2);
  expect(stderr).toMatch(expected);
  expect(stderr).not.toContain("listens on");
});
