// What an operator sees of `plugboard up`, over real sockets.

import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { TokenFiles } from "../../../src/core/state/files/token-files.ts";
import { findGateway, gatewayFile } from "../../../src/core/state/running-gateway.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { fixture } from "../../support/boards.ts";
import { Sink, useScratch } from "../harness.ts";

const scratch = useScratch();

const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "probe", version: "9" },
};

async function up(argv: readonly string[] = [], stderr = new Sink()) {
  const running = await scratch.up(argv, { stderr });
  const url = /http:\/\/[\d.]+:\d+/.exec(stderr.text)?.[0] ?? "";
  const token = scratch.read("home/gateway/token").trim();
  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } });
  const post = async (
    method: string,
    params: object,
    session?: string | null,
  ): Promise<{ result: Record<string, unknown>; session: string | null }> => {
    const response = await fetch(`${url}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        ...(session && { "mcp-session-id": session }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const { result } = (await response.json()) as { result: Record<string, unknown> };
    return { result, session: response.headers.get("mcp-session-id") };
  };
  const call = (tool: string, args: object = {}): ReturnType<typeof post> =>
    post("tools/call", { name: `echo__${tool}`, arguments: args });
  const stop = async (): Promise<number> => {
    running.events.emit("SIGTERM");
    return (await running.done).code;
  };
  return { ...running, url, token, get, post, call, stop };
}

describe("plugboard up", () => {
  it("gives clients a search with --search, and status says that models search", async () => {
    scratch.servers({ office: fixture("office") });
    const { post } = await up(["--search"]);
    const { result } = await post("tools/list", {});
    expect((result["tools"] as { name: string }[]).map(({ name }) => name)).toEqual([
      "search_tools",
      "describe_tool",
      "call_tool",
      "call_changing_tool",
    ]);
    const called = { name: "office__find_badge", arguments: { id: "7" } };
    const done = await post("tools/call", { name: "call_changing_tool", arguments: called });
    expect(done.result).toMatchObject({ structuredContent: { tool: "find_badge" } });
    const { stdout } = await scratch.run(["status"]);
    expect(stdout).toContain(
      "\nTool search is on, since there are more than 50 tools: a model gets 0 of",
    );
  });

  it("shows calls, errors, servers, clients and refusals to those with a token", async () => {
    scratch.servers({ echo: fixture("echo"), missing: { command: "no-such-program" } });
    const added = await scratch.run(["tokens", "add", "ci", "--agent", "default", "--json"]);
    const { token: ofCi } = JSON.parse(added.stdout) as { token: string };
    const { get, post, call, stop, stderr, url, token } = await up(["--log-level", "info"]);
    expect((await get("/metrics", { authorization: `Bearer ${ofCi}` })).status).toBe(403);
    const { session } = await post("initialize", INITIALIZE);
    await call("echo", { text: "hi" });
    await call("fail");
    await call("crash");
    await stderr.until("echo: ready again");

    for (const path of ["/metrics", "/api/status", "/api/events"]) {
      expect((await fetch(url + path)).status).toBe(401);
      expect((await get(path, { authorization: "Bearer nobody" })).status).toBe(401);
    }
    const metrics = await (await get("/metrics")).text();
    const labels = (tool: string): string => `agent="default",server="echo",tool="${tool}"`;
    for (const line of [
      `plugboard_calls_total{${labels("echo")}} 1`,
      `plugboard_call_errors_total{${labels("fail")},code="TOOL_ERROR"} 1`,
      `plugboard_call_errors_total{${labels("crash")},code="CONNECTION_CLOSED"} 1`,
      `plugboard_call_duration_seconds_bucket{${labels("echo")},le="+Inf"} 1`,
      `plugboard_call_duration_seconds_count{${labels("echo")}} 1`,
      'plugboard_server_state{agent="default",server="echo",state="ready"} 1',
      'plugboard_server_state{agent="default",server="missing",state="failed"} 1',
      'plugboard_server_crashes_total{agent="default",server="echo"} 1',
      'plugboard_server_restarts_total{agent="default",server="echo"} 1',
      'plugboard_server_failed_starts_total{agent="default",server="missing"} 1',
      "plugboard_sessions 1",
      'plugboard_refusals_total{kind="no-token"} 3',
      'plugboard_refusals_total{kind="wrong-token"} 3',
      'plugboard_http_responses_total{route="mcp",status="200"} 4',
      "# TYPE plugboard_call_duration_seconds histogram",
    ]) {
      expect(metrics.split("\n")).toContain(line);
    }
    expect(metrics).toMatch(/^plugboard_received_bytes_total [1-9]\d+$/m);
    expect(metrics).toMatch(/^process_resident_memory_bytes \d+/m);

    const text = await (await get("/api/status")).text();
    expect(JSON.parse(text)).toMatchObject({
      pid: process.pid,
      state: "serving",
      config: join(scratch.directory, "servers.json"),
      agents: [
        {
          id: "default",
          isOpen: true,
          servers: [
            { name: "echo", state: { kind: "ready" }, restarts: 1 },
            { name: "missing", state: { kind: "failed", error: { code: "SPAWN_FAILED" } } },
          ],
        },
      ],
      sessions: {
        total: 1,
        list: [{ caller: "default", agent: "default", client: { name: "probe", version: "9" } }],
      },
      clients: { total: 2, present: 2 },
    });
    expect(text).not.toContain(token);
    expect(text).not.toContain(session);
    expect((await fetch(`${url}/api/status`, { method: "POST" })).status).toBe(401);
    const posted = await fetch(`${url}/metrics`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
    });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);

    const nowhere = async (path: string): Promise<unknown[]> => {
      const response = await get(path);
      return [response.status, await response.text()];
    };
    expect(await nowhere("/sse")).toEqual([
      404,
      expect.stringMatching(/^nothing is here; .*\/mcp/),
    ]);
    const signIn = await fetch(`${url}/register`, { method: "POST" });
    expect([signIn.status, await signIn.json()]).toEqual([
      404,
      {
        error: "access_denied",
        error_description: expect.stringContaining("plugboard tokens add"),
      },
    ]);
    expect(await nowhere("/agents/nobody/mcp")).toEqual([
      404,
      expect.stringContaining("there is no agent 'nobody' here"),
    ]);

    expect(await stop()).toBe(0);
    const lines = stderr.text.split("\n").map((line) => line.replace(/ path=.*/, ""));
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^error missing: start failed: .* state=failed/),
        "info  session begins: probe 9 caller=default agent=default",
        expect.stringMatching(/^warn {2}echo: crashed: .*; next attempt in .* state=backoff/),
        expect.stringMatching(/^info {2}echo: ready again/),
        "warn  refused: it has no token",
        "warn  refused: its token is not valid",
        "warn  refused: its token is not for what it asks for caller=ci",
      ]),
    );
  });

  it("tells its events as they happen, and again to a reader who comes back", async () => {
    scratch.servers({ echo: fixture("echo") });
    const { get, post, call, stop } = await up();
    await call("echo", { text: "first" });
    const hangUp = new AbortController();
    const stream = await get("/api/events");
    const reader = stream.body?.getReader();
    hangUp.signal.addEventListener("abort", () => void reader?.cancel());
    let text = "";
    const until = async (wanted: string): Promise<void> => {
      while (!text.includes(wanted)) {
        const { value, done } = (await reader?.read()) ?? { done: true };
        if (done) throw new Error(`the stream ended before ${wanted}`);
        text += Buffer.from(value).toString();
      }
    };
    await until("event: snapshot");
    const id = /id: (\S+)/.exec(text)?.[1] ?? "";
    await post("initialize", INITIALIZE);
    await call("fail");
    await until("event: call\n");
    expect(text.match(/event: \w+/g)).toEqual([
      "event: snapshot",
      "event: session",
      "event: callStart",
      "event: call",
    ]);
    expect(text).toContain('"tool":"echo__fail"');
    const again = await get("/api/events", { "last-event-id": id });
    // Stopping ends the streams.
    const code = stop();
    const replayed = await again.text();
    expect(replayed).toContain("event: session");
    expect(replayed).not.toContain("event: snapshot");
    expect(await code).toBe(0);
    hangUp.abort();
  });

  it("shows a token what it may use, and nothing of where servers run or who else is there", async () => {
    scratch.servers({
      echo: fixture("echo"),
      hidden: fixture("echo"),
      broken: { command: join(scratch.directory, "no-such-program") },
    });
    const add = async (name: string, ...rules: string[]): Promise<string> => {
      const { stdout } = await scratch.run(["tokens", "add", name, ...rules, "--json"]);
      return (JSON.parse(stdout) as { token: string }).token;
    };
    const less = await add("less", "--allow", "echo/echo", "--allow", "broken/*");
    const reader = await add("reader");
    const { get, url, post } = await up();
    await expect
      .poll(async () => (await get("/api/status")).text())
      .toMatch(/"echo".*"ready".*"hidden".*"ready".*"failed"/);
    const as = (token: string) => ({ authorization: `Bearer ${token}` });
    /** All that the token sees, as texts: status, metrics, the events of one call, and the resource. */
    const everything = async (token: string): Promise<string[]> => {
      const events = await get("/api/events", as(token));
      const stream = events.body?.getReader();
      for (const name of ["hidden__echo", "echo__add", "echo__echo"]) {
        await post("tools/call", { name, arguments: { text: "hi", a: 1, b: 2 } });
      }
      let heard = "";
      while (!heard.includes('"tool":"echo__echo"')) {
        heard += new TextDecoder().decode((await stream?.read())?.value);
      }
      await stream?.cancel();
      const read = await fetch(`${url}/mcp`, {
        method: "POST",
        headers: { ...as(token), "content-type": "application/json" },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "resources/read",
          params: { uri: "plugboard://status" },
        }),
      });
      const pages = ["/api/status", "/metrics"].map(async (path) =>
        (await get(path, as(token))).text(),
      );
      return [heard, await read.text(), ...(await Promise.all(pages))];
    };
    for (const [token, servers] of [
      [less, ["echo", "broken"]],
      [reader, ["echo", "hidden", "broken"]],
    ] as const) {
      for (const text of await everything(token)) {
        expect(text).not.toContain(scratch.directory);
        expect(text).not.toContain(process.execPath);
        expect(text).not.toContain("no-such-program");
        expect(text.includes("hidden")).toBe(token === reader);
        // The owner's client, and the calls of other tools.
        expect(text.includes('"caller":"default"')).toBe(false);
        if (token === less) expect(text).not.toMatch(/echo__add|tool="add"/);
      }
      const status = (await (await get("/api/status", as(token))).json()) as {
        agents: { servers: { name: string; tools: number; state: object }[] }[];
      };
      expect(status.agents[0]?.servers.map(({ name }) => name)).toEqual(servers);
      expect(status.agents[0]?.servers.at(-1)?.state).toEqual({
        kind: "failed",
        error: { code: "SPAWN_FAILED" },
      });
    }
    const all = await (await get("/api/status")).text();
    expect(all).toContain("no-such-program");
  });

  it("ends the streams of a token that is revoked, and counts a batch as what is in it", async () => {
    scratch.servers({ echo: fixture("echo") });
    const { url, stop } = await up();
    const stateDir = join(scratch.directory, "home");
    const tokens = new TokenFiles({ stateDir, clock: systemClock, random: randomBytes });
    const { text } = await tokens.add({ name: "reader", policy: { rateLimit: 5 } });
    const authorization = `Bearer ${text}`;
    const events = await fetch(`${url}/api/events`, { headers: { authorization } });
    const batch = async (size: number): Promise<[number, boolean]> => {
      const ping = { jsonrpc: "2.0", method: "ping" };
      const { status, headers } = await fetch(`${url}/mcp`, {
        method: "POST",
        headers: { authorization, "content-type": "application/json" },
        body: JSON.stringify(Array.from({ length: size }, (_, id) => ({ ...ping, id }))),
      });
      return [status, headers.has("retry-after")];
    };
    expect(await batch(100)).toEqual([429, true]);
    expect(await batch(3)).toEqual([200, false]);
    expect(await batch(1)).toEqual([429, true]);
    await tokens.revoke("reader");
    // Its end is an error: nothing was said to be the last event.
    await expect(events.text()).rejects.toThrow("terminated");
    expect(await stop()).toBe(0);
  });

  it("tells where to sign in for the agent that is served at /mcp, at every address that clients try", async () => {
    const issuers = [{ issuer: "https://login.example", algorithms: ["RS256"] }];
    const config = scratch.file("plugboard.json", {
      agents: { list: [{ id: "coder" }] },
      gateway: { publicUrl: "https://g.example", behindProxy: true, jwt: { issuers } },
    });
    const { stop } = await up(["--agent", "coder", "--config", config]);
    const local = (await findGateway(join(scratch.directory, "home"), config))?.url;
    for (const path of ["", "/mcp"]) {
      const found = await fetch(`${local}/.well-known/oauth-protected-resource${path}`);
      expect([found.status, await found.json()]).toMatchObject([
        200,
        { resource: "https://g.example/mcp", resource_name: "Plugboard (coder)" },
      ]);
    }
    expect(await stop()).toBe(0);
  });

  it("is what status shows, until it stops", async () => {
    scratch.servers({ echo: fixture("echo") });
    const home = join(scratch.directory, "home");
    const config = join(scratch.directory, "servers.json");
    const { url, post, stop, stderr } = await up(["--verbose"]);
    await post("initialize", INITIALIZE);
    await stderr.until("echo: ready");
    const { stdout } = await scratch.run(["status"]);
    expect(stdout).toMatch(
      /^The gateway runs at http:\S+\/mcp \(pid \d+, for .*\), with 1 client, 1 session and 0 attached commands\.\n\n/,
    );
    expect(stdout).toMatch(/^echo +✓ ready +11/m);
    expect(stdout).toMatch(/^probe 9 +default +default +1 +1 +now$/m);
    const json = JSON.parse((await scratch.run(["status", "--json"])).stdout);
    expect(json).toMatchObject({
      gateway: { url, pid: process.pid, agents: ["default"], sessions: { total: 1 } },
      servers: [{ name: "echo", state: { kind: "ready" } }],
    });
    const one = await scratch.run(["status", "echo"]);
    expect(one.stdout).toContain("echo  ✓ ready");
    const none = await scratch.run(["status", "ecko"]);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("did you mean 'echo'?")]);
    const nobody = await scratch.run(["status", "--agent", "nobody"]);
    expect([nobody.code, nobody.stderr]).toEqual([
      2,
      expect.stringContaining("there is no agent 'nobody'"),
    ]);
    expect(existsSync(gatewayFile(home, config, "json"))).toBe(true);
    await stop();
    expect(existsSync(gatewayFile(home, config, "json"))).toBe(false);
    expect((await scratch.run(["status"])).stdout).toMatch(/^server +state/);
  });

  it("leaves no record that misleads status", async () => {
    scratch.servers({ echo: fixture("echo") });
    const home = join(scratch.directory, "home");
    const { stop } = await up();
    await stop();
    const file = gatewayFile(home, join(scratch.directory, "servers.json"), "json");
    const channel = { path: join(home, "gateway", "none.sock"), key: "k" };
    const note = { pid: 1, url: "http://127.0.0.1:9", since: 1, version: "0.1.0", channel };
    // It runs, but is not to be reached.
    writeFileSync(file, JSON.stringify({ ...note, owner: "somewhere else" }));
    const lost = await scratch.run(["status"]);
    expect(lost.stderr).toContain(
      "plugboard: the gateway (pid 1) did not answer: no gateway listens at ",
    );
    expect(lost.stdout).toMatch(/^server +state/);
    // It belongs to a process that has ended.
    const running = await up();
    const own = JSON.parse(scratch.read(file.slice(scratch.directory.length + 1)));
    await running.stop();
    writeFileSync(file, JSON.stringify({ ...own, owner: own.owner.replace(/-\d+-\d+$/, "-1-7") }));
    const ended = await scratch.run(["status"]);
    expect(ended.stderr).toBe("");
    expect(readdirSync(join(home, "gateway"))).not.toContain(file.split("/").at(-1));
  });

  it("shows a live view on a terminal, and leaves nothing of it", async () => {
    scratch.servers({ echo: fixture("echo") });
    const stderr = new Sink({ columns: 100, rows: 20 });
    const { call, stop } = await up([], stderr);
    await call("echo", { text: "hi" });
    await stderr.until("✓ ready");
    expect(stderr.text).toMatch(/server +state +calls\/s +p50 +errors +in flight +restarts +calls/);
    expect(await stop()).toBe(0);
    // The rows are erased, and nothing is drawn after that.
    expect(stderr.text.endsWith("\u001b[3A\r\u001b[JThe gateway has stopped\n")).toBe(true);
    expect(stderr.text).not.toContain("\u001b[?");
  });

  it("ends at once with a second signal while calls finish", async () => {
    scratch.servers({ echo: fixture("echo") });
    const { call, events, exits, done } = await up();
    await call("echo", { text: "warm" });
    const slow = call("sleep", { ms: 300 });
    await call("echo", { text: "behind it" });
    events.emit("SIGTERM");
    expect(exits).toEqual([]);
    events.emit("SIGTERM");
    expect(exits).toEqual([143]);
    // This process goes on here: what the first signal began ends properly.
    expect((await slow).result["content"]).toEqual([{ type: "text", text: "slept 300 ms" }]);
    expect((await done).code).toBe(0);
  });
});
