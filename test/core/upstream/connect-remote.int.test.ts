// The server people try first, from npm, behind a URL: over both transports it knows, and killed in
// mid-session.

import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import type { ToolUpdate } from "../../../src/core/types/tool.ts";
import { closeBoards, open, reaches, statusOf, textOf } from "../../support/boards.ts";
import { MovableClock } from "../../support/movable-clock.ts";
import { npmServer } from "../../support/npm-servers.ts";
import { eventually, expectAllGone } from "../../support/processes.ts";

const HOST = "127.0.0.1";
const LONGEST_PAUSE_MS = 60_000;
const LONG = "everything/trigger-long-running-operation";
const entry = await npmServer("server-everything");

/** One way the server can be run, and what a configuration says to get there. */
interface Mode {
  mode: "streamableHttp" | "sse";
  path: string;
  transport?: NonNullable<ServerConfig["transport"]>;
}

const MODES: readonly [string, Mode][] = [
  ["Streamable HTTP", { mode: "streamableHttp", path: "/mcp", transport: "http" }],
  ["Streamable HTTP, found by itself", { mode: "streamableHttp", path: "/mcp" }],
  ["SSE", { mode: "sse", path: "/sse", transport: "sse" }],
  ["SSE, found by itself", { mode: "sse", path: "/sse" }],
];

class Everything {
  static readonly pids: number[] = [];
  readonly #mode: Mode;
  readonly #port: number;
  #child: ChildProcess | undefined;

  constructor(mode: Mode, port: number) {
    this.#mode = mode;
    this.#port = port;
  }

  get config(): ServerConfig {
    const { path, transport } = this.#mode;
    return { url: `http://${HOST}:${this.#port}${path}`, ...(transport && { transport }) };
  }

  /** Resolves when it listens. */
  async start(): Promise<void> {
    const env = { PATH: process.env.PATH, PORT: String(this.#port) };
    const child = spawn(process.execPath, [entry, this.#mode.mode], { env, stdio: "ignore" });
    this.#child = child;
    if (child.pid !== undefined) Everything.pids.push(child.pid);
    while (!(await listens(this.#port))) {
      if (child.exitCode !== null) throw new Error(`the server exited with ${child.exitCode}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Resolves when it is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  }
}

/** A port below those that the system gives out, so that nothing else takes it while the server is down. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    const probe = createServer();
    const free = await new Promise<boolean>((resolve) => {
      probe.once("error", () => resolve(false));
      probe.listen(port, () => resolve(true));
    });
    if (!free) continue;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, HOST);
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

closeBoards();

describe.each(MODES)("server-everything over %s", (_, mode) => {
  let everything: Everything;

  beforeAll(async () => {
    everything = new Everything(mode, await freePort());
    await everything.start();
  });

  afterAll(async () => {
    await everything.kill();
    expectAllGone(Everything.pids.splice(0));
  });

  it("is ready, with all its tools", async () => {
    const board = await open({ everything: everything.config });
    expect(statusOf(board, "everything")).toMatchObject({
      state: { kind: "ready", protocolVersion: "2025-11-25" },
      // The one in use, whether it was configured or found.
      transport: everything.config.url?.endsWith("/sse") ? "sse" : "http",
      tools: 13,
    });
    const names = board.tools().map(({ name }) => name);
    expect(names).toContain("mcp__everything__echo");
  });

  it("answers", async () => {
    const board = await open({ everything: everything.config });
    const echo = await board.call("everything/echo", { message: "grüße" });
    expect(textOf(echo)).toBe("Echo: grüße");
    const sum = await board.call("everything/get-sum", { a: 2, b: 40 });
    expect(textOf(sum)).toBe("The sum of 2 and 40 is 42.");
    const wrong = await board.call("everything/get-sum", { a: "x" });
    expect(wrong.isError).toBe(true);
    expect(wrong.failure).toBeUndefined();
  });

  it("answers many calls at once, each with its own", async () => {
    const board = await open({ everything: everything.config });
    const messages = Array.from({ length: 50 }, (__, index) => `call ${index}`);
    const outcomes = await Promise.all(
      messages.map((message) => board.call("everything/echo", { message })),
    );
    expect(outcomes.map(textOf)).toEqual(messages.map((message) => `Echo: ${message}`));
  });

  it("gives an image as an image and structured content as such", async () => {
    const board = await open({ everything: everything.config });
    const image = await board.call("everything/get-tiny-image");
    expect(image.content).toContainEqual(
      expect.objectContaining({ type: "image", mimeType: "image/png" }),
    );
    const weather = await board.call("everything/get-structured-content", { location: "Chicago" });
    expect(weather.structuredContent).toMatchObject({ temperature: expect.any(Number) });
  });

  it("reports the progress of a long operation", async () => {
    const board = await open({ everything: everything.config });
    const updates: ToolUpdate[] = [];
    const onUpdate = (each: ToolUpdate) => void updates.push(each);
    const outcome = await board.call(LONG, { duration: 0.2, steps: 4 }, { onUpdate });
    expect(textOf(outcome)).toContain("completed");
    expect(updates.map(({ progress }) => progress)).toMatchObject(
      [1, 2, 3, 4].map((progress) => ({ progress, total: 4 })),
    );
  });

  it("can be cancelled, and goes on", async () => {
    const board = await open({ everything: everything.config });
    const abort = new AbortController();
    const options = { signal: abort.signal, onUpdate: () => abort.abort() };
    const outcome = await board.call(LONG, { duration: 20, steps: 400 }, options);
    expect(outcome.failure?.code).toBe("CANCELLED");
    expect(textOf(await board.call("everything/echo", { message: "on" }))).toBe("Echo: on");
    expect(statusOf(board, "everything")).toMatchObject({ state: { kind: "ready" }, restarts: 0 });
  });

  async function connected() {
    const clock = new MovableClock();
    const board = await open({ everything: everything.config }, { clock });
    const echo = async (message: string) =>
      textOf(await board.call("everything/echo", { message }));
    expect(await echo("before")).toBe("Echo: before");
    /** The pause between two attempts, which grows, is over at once. */
    const returns = async (): Promise<void> => {
      await everything.start();
      await eventually(() => {
        const { kind } = statusOf(board, "everything").state;
        if (kind === "backoff") clock.forward(LONGEST_PAUSE_MS);
        return kind === "ready";
      });
    };
    return { board, echo, returns };
  }

  it("is noticed without a call; its tools stay, and it reconnects when the server is back", async () => {
    const { board, echo, returns } = await connected();
    await everything.kill();
    await reaches(board, "everything", "backoff");
    expect(statusOf(board, "everything").tools).toBe(13);
    expect(await echo("nobody there")).toMatch(/^server 'everything' is restarting, attempt \d+,/);
    await returns();
    expect(await echo("after")).toBe("Echo: after");
    expect(statusOf(board, "everything").restarts).toBeGreaterThan(0);
  });

  it("when it is killed fails the call in flight, which says that it may have taken effect", async () => {
    const { board, echo, returns } = await connected();
    let killed: Promise<void> | undefined;
    const onUpdate = () => {
      killed ??= everything.kill();
    };
    const outcome = await board.call(LONG, { duration: 20, steps: 400 }, { onUpdate });
    await killed;
    expect(outcome.isError).toBe(true);
    expect(textOf(outcome)).toContain("may have taken effect");
    await returns();
    expect(await echo("after")).toBe("Echo: after");
  });
});
