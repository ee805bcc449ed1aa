// MCP on pipes: one client, in whichever era it speaks.

import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { serveMcp } from "../../../src/serve/mcp.ts";
import type { Board } from "../../../src/core/types/board.ts";
import { closeBoards, fixture, open } from "../../support/boards.ts";
import { collectGarbage } from "../../support/old-space.ts";
import { INITIALIZE, type JsonRpc, legacy, modern } from "./harness.ts";

closeBoards();

interface Pipe {
  board: Board;
  say(message: unknown): void;
  /** The next message that the predicate wants. */
  hear(wanted: (message: JsonRpc) => boolean): Promise<JsonRpc>;
  end(): Promise<void>;
  all: JsonRpc[];
}

async function pipe(...servers: string[]): Promise<Pipe> {
  const board = await open(Object.fromEntries(servers.map((name) => [name, fixture(name)])));
  const [input, output] = [new PassThrough(), new PassThrough()];
  const over = serveMcp(board, { input, output });
  const all: JsonRpc[] = [];
  const waiting = new Set<() => void>();
  let rest = "";
  output.on("data", (chunk: Buffer) => {
    const lines = `${rest}${String(chunk)}`.split("\n");
    rest = lines.pop() ?? "";
    all.push(...lines.map((line) => JSON.parse(line)));
    for (const look of waiting) look();
  });
  return {
    board,
    all,
    say: (message) =>
      void input.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`),
    hear: (wanted) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = all.find(wanted);
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    async end() {
      input.end();
      await over;
    },
  };
}

const answering = (request: JsonRpc) => (message: JsonRpc) => message.id === request.id;

describe("a client on pipes", () => {
  it.each([
    ["2025-11-25", legacy],
    [
      "2026-07-28",
      (method: string, params: Record<string, unknown>) => modern(method, params).body,
    ],
  ])("of %s calls tools", async (version, make) => {
    const client = await pipe("echo");
    if (version === "2025-11-25") {
      const begin = legacy("initialize", INITIALIZE);
      client.say(begin);
      const { result } = await client.hear(answering(begin));
      expect(result).toMatchObject({
        protocolVersion: version,
        instructions: "Tools for trying things out.",
        serverInfo: { name: "plugboard" },
      });
    }
    const call = make("tools/call", { name: "mcp__echo__echo", arguments: { text: "hi" } });
    client.say(call);
    const { result } = await client.hear(answering(call));
    expect(result.content).toEqual([{ type: "text", text: "hi" }]);
    await client.end();
  });

  it("hears nothing before the answer to initialize, and of every change after it", async () => {
    const client = await pipe("list-changed");
    const swap = async (): Promise<void> => {
      const changed = new Promise((resolve) => client.board.on("tools", resolve));
      await client.board.call("list-changed/swap");
      await changed;
    };
    const [ping, begin] = [legacy("ping"), legacy("initialize", INITIALIZE)];
    client.say(ping);
    await client.hear(answering(ping));
    await swap();
    // Longer than changes are gathered.
    await sleep(60);
    client.say(begin);
    await client.hear(answering(begin));
    expect(client.all.map(({ id }) => id)).toEqual([ping.id, begin.id]);
    await swap();
    await client.hear(({ method }) => method === "notifications/tools/list_changed");
    await client.end();
  });

  it("cancels a call, and hears nothing of it any more but its end", async () => {
    const client = await pipe("echo");
    const call = legacy("tools/call", { name: "mcp__echo__sleep", arguments: { ms: 60_000 } });
    client.say(call);
    client.say({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: call.id },
    });
    const { result } = await client.hear(answering(call));
    expect(result.isError).toBe(true);
    await client.end();
  });

  it("costs the memory of its arguments once while its calls run", async () => {
    const client = await pipe("echo");
    const [calls, size] = [200, 100_000];
    const args = { ms: 60_000, text: "x".repeat(size) };
    await collectGarbage();
    const before = process.memoryUsage().heapUsed;
    const all = Array.from({ length: calls }, () =>
      legacy("tools/call", { name: "mcp__echo__sleep", arguments: args }),
    );
    for (const call of all) client.say(call);
    const ping = legacy("ping");
    client.say(ping);
    await client.hear(answering(ping));
    await collectGarbage();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(1.5 * calls * size);
    await client.end();
    expect(client.all.filter(({ result }) => result?.isError)).toHaveLength(calls);
  });

  it("hears the progress it asked for, growing", async () => {
    const client = await pipe("echo");
    const call = legacy("tools/call", {
      name: "mcp__echo__progress",
      arguments: { steps: 3, ms: 1 },
      _meta: { progressToken: "p" },
    });
    client.say(call);
    await client.hear(answering(call));
    const progress = client.all.filter(({ method }) => method === "notifications/progress");
    expect(progress.map(({ params }) => params)).toEqual(
      [1, 2, 3].map((step) => ({
        progressToken: "p",
        progress: step,
        total: 3,
        message: `step ${step} of 3`,
      })),
    );
    await client.end();
  });

  it.each<[string, string, number]>([
    ["what is not JSON", "{", -32700],
    ["what is not JSON-RPC", "[]", -32600],
    ["an id that is an object", '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
  ])("is told of %s, and goes on", async (_, line, code) => {
    const client = await pipe();
    client.say(line);
    expect((await client.hear(({ error }) => error !== undefined)).error.code).toBe(code);
    const ping = legacy("ping");
    client.say(ping);
    expect((await client.hear(answering(ping))).result).toEqual({});
    await client.end();
  });

  const values = `[${"0,".repeat(300_000)}0]`;
  const levels = "[".repeat(3000) + "]".repeat(3000);
  it.each<[string, string, string]>([
    ["more values than a message may have", values, "has more than 250000 values"],
    ["more levels", levels, "is nested more than 1000 levels deep"],
  ])("is refused %s, whether the id comes first or last, and goes on", async (_, x, reason) => {
    const client = await pipe("echo");
    const params = `"params":{"name":"mcp__echo__echo","arguments":{"text":"hi","x":${x}}}`;
    const refused = { code: -32600, message: expect.stringContaining(reason) };
    client.say(`{"jsonrpc":"2.0","id":7,"method":"tools/call",${params}}`);
    client.say(`{"method":"tools/call",${params},"jsonrpc":"2.0","id":"a"}`);
    client.say(`{"jsonrpc":"2.0","method":"tools/call",${params}}`);
    const call = legacy("tools/call", { name: "mcp__echo__echo", arguments: { text: "hi" } });
    client.say(call);
    expect((await client.hear(answering(call))).result.content).toHaveLength(1);
    expect(client.all.filter(({ error }) => error !== undefined)).toEqual(
      [7, "a", null].map((id) => ({ jsonrpc: "2.0", id, error: refused })),
    );
    await client.end();
  });

  it("cannot use an id twice at a time", async () => {
    const client = await pipe("echo");
    const call = legacy("tools/call", { name: "mcp__echo__sleep", arguments: { ms: 60_000 } });
    client.say(call);
    client.say(call);
    expect((await client.hear(({ error }) => error !== undefined)).error.code).toBe(-32600);
    await client.end();
  });
});
