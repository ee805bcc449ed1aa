import { once } from "node:events";
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { connectChannel } from "../../../../src/serve/attach/greeting.ts";
import type { RequestOptions } from "../../../../src/serve/attach/link.ts";
import { ask } from "../../../../src/serve/attach/command/ask.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import type { BoardCallOptions } from "../../../../src/core/types/board.ts";
import type { CallOutcome } from "../../../../src/core/types/tool.ts";
import type { TraceEntry } from "../../../../src/core/types/trace.ts";
import { systemClock } from "../../../../src/util/clock.ts";
import { deferred } from "../../../../src/util/deferred.ts";
import { closeBoards, fixture, open, textOf } from "../../../support/boards.ts";
import { closeChannels, newAddress, openChannel } from "../../../support/channels.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { eventually } from "../../../support/processes.ts";

closeBoards();
closeChannels();

const me = { command: "test", pid: process.pid, cwd: "/" };
/** What a session is opened with. */
const IN_ROOT: RequestOptions = { cwd: "/" };
const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Connects without saying anything. */
async function stranger(path: string): Promise<Socket> {
  const socket = connect(path);
  sockets.push(socket);
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

function closed(socket: Socket): Promise<void> {
  socket.resume();
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.once("close", () => resolve());
  });
}

describe("who is let in", () => {
  it("only the owner can open the socket, and it is gone with the channel", async () => {
    const { address, channel } = await openChannel({});
    expect(statSync(address.path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(address.path)).mode & 0o777).toBe(0o700);
    await channel.close();
    expect(existsSync(address.path)).toBe(false);
  });

  it("who does not know the key is not, and both sides find out", async () => {
    const { address, logger } = await openChannel({});
    const wrong = { ...address, key: "another" };
    await expect(connectChannel(wrong, me, { clock: systemClock })).rejects.toMatchObject({
      code: "SERVER_UNAVAILABLE",
      message: expect.stringContaining("does not know the key"),
    });
    expect(logger.lines.map(({ message }) => message)).toEqual([
      expect.stringContaining("does not know the key"),
    ]);
  });

  it("what pretends to be the gateway learns neither the key nor anything else", async () => {
    const address = newAddress();
    const heard: string[] = [];
    const impostor = createServer((socket) => {
      socket.write('{"channel":3,"nonce":"mine"}\n');
      socket.on("data", (chunk) => {
        heard.push(String(chunk));
        socket.write('{"proof":"mine"}\n');
      });
    });
    impostor.listen(address.path);
    await once(impostor, "listening");
    const connecting = connectChannel(address, me, { clock: systemClock });
    await expect(connecting).rejects.toMatchObject({ code: "SERVER_UNAVAILABLE" });
    impostor.close();
    expect(heard).toHaveLength(1);
    expect(heard[0]).not.toContain(address.key);
  });

  it.each<[string, string | Buffer]>([
    ["nothing but garbage", Buffer.from([0, 1, 2, 255, 10])],
    ["a request before the greeting", '{"id":1,"method":"gateway/stop"}\n'],
    ["a line without end", "x".repeat(100_000)],
    ["an answer without a proof", '{"nonce":"a"}\n'],
    ["a proof of the wrong kind", '{"nonce":"a","proof":{"a":1}}\n'],
  ])("%s ends the connection, and the channel goes on", async (_, bytes) => {
    const { address, connect: join_, commands } = await openChannel({});
    const socket = await stranger(address.path);
    socket.write(bytes);
    await closed(socket);
    const link = await join_();
    expect(await link.request("gateway/status")).toEqual({ name: "test" });
    expect(commands).toEqual([]);
  });

  it("who says nothing is sent away after a while", async () => {
    const clock = new ManualClock();
    const { address } = await openChannel({}, { clock });
    const socket = await stranger(address.path);
    await once(socket, "data");
    await clock.advance(5000);
    await closed(socket);
    expect(socket.destroyed).toBe(true);
  });

  it("many who say nothing do not keep out the others for ever", async () => {
    const clock = new ManualClock();
    const { address, connect: join_ } = await openChannel({}, { clock });
    const many = await Promise.all(Array.from({ length: 256 }, () => stranger(address.path)));
    await Promise.all(many.map((socket) => once(socket, "data")));
    await expect(connectChannel(address, me, { clock: systemClock })).rejects.toMatchObject({
      message: expect.stringContaining("no room"),
    });
    await clock.advance(5000);
    await Promise.all(many.map(closed));
    expect((await join_()).isOpen).toBe(true);
  });
});

describe("connecting fails quickly", () => {
  it.each<[string, (path: string) => void, string]>([
    ["where nothing is", () => {}, "no gateway listens"],
    ["where a file is", (path) => writeFileSync(path, "x"), "no gateway listens"],
  ])("%s", async (_, prepare, message) => {
    const address = newAddress();
    prepare(address.path);
    await expect(connectChannel(address, me, { clock: systemClock })).rejects.toMatchObject({
      code: "SERVER_UNAVAILABLE",
      hasNotRun: true,
      message: expect.stringContaining(message),
    });
  });

  it.each([
    ["says nothing", "", "did not answer within 2 s"],
    ["is something else", "SSH-2.0-OpenSSH\r\n", "is not a gateway"],
    ["is of another version", '{"channel":1,"nonce":"x"}\n', "another version"],
  ])("where what listens %s", async (_, says, message) => {
    const address = newAddress();
    const clock = new ManualClock();
    const other = createServer((socket) => {
      sockets.push(socket);
      socket.write(says);
      if (says === "") void clock.advance(2000);
    });
    other.listen(address.path);
    await once(other, "listening");
    const connecting = connectChannel(address, me, { clock });
    await expect(connecting).rejects.toMatchObject({ message: expect.stringContaining(message) });
    other.close();
  });

  it("when it is cancelled", async () => {
    const { address } = await openChannel({});
    const ending = new AbortController();
    const { signal } = ending;
    const connecting = connectChannel(address, me, { clock: systemClock, signal });
    ending.abort();
    await expect(connecting).rejects.toMatchObject({ code: "CANCELLED" });
    await expect(connectChannel(address, me, { clock: systemClock, signal })).rejects.toMatchObject(
      { code: "CANCELLED" },
    );
  });
});

describe("where it listens", () => {
  it("takes the place of a gateway that was killed", async () => {
    const address = newAddress();
    // A socket that nobody listens at any more stays when its process is killed.
    const { execFileSync } = await import("node:child_process");
    const code = `require("net").createServer().listen(${JSON.stringify(address.path)}, () => process.kill(process.pid, "SIGKILL"))`;
    expect(() => execFileSync(process.execPath, ["-e", code], { stdio: "ignore" })).toThrow();
    expect(existsSync(address.path)).toBe(true);
    const { connect: join_ } = await openChannel({}, { address });
    expect((await join_()).isOpen).toBe(true);
  });

  it("refuses an address that another one uses, and leaves it alone", async () => {
    const { address, connect: join_ } = await openChannel({});
    await expect(openChannel({}, { address })).rejects.toMatchObject({
      code: "SYSTEM_ERROR",
      message: expect.stringContaining("another process"),
    });
    expect((await join_()).isOpen).toBe(true);
  });

  it("does not replace a file, or listen below one", async () => {
    const address = newAddress();
    writeFileSync(address.path, "precious");
    await expect(openChannel({}, { address })).rejects.toMatchObject({ code: "SYSTEM_ERROR" });
    const below = { ...address, path: join(address.path, "below.sock") };
    await expect(openChannel({}, { address: below })).rejects.toMatchObject({
      code: "SYSTEM_ERROR",
    });
    const open_ = { ...address, path: join(dirname(address.path), "open", "gateway.sock") };
    mkdirSync(dirname(open_.path), { mode: 0o755 });
    await openChannel({}, { address: open_ });
    expect(statSync(dirname(open_.path)).mode & 0o777).toBe(0o700);
  });
});

describe("requests to the gateway itself", () => {
  it("reload, status and stop reach the host, and nobody is attached by them", async () => {
    const asked: string[] = [];
    const { connect: join_, commands } = await openChannel(
      {},
      {
        reload: async () => {
          asked.push("reload");
          return { added: ["a"] };
        },
        stop: () => void asked.push("stop"),
        status: () => ({ pid: 1 }),
      },
    );
    const link = await join_();
    expect(await link.request("gateway/reload")).toEqual({ added: ["a"] });
    expect(await link.request("gateway/status")).toEqual({ pid: 1 });
    await link.request("gateway/stop");
    expect(asked).toEqual(["reload", "stop"]);
    expect(commands).toEqual([]);
  });

  it.each<[string, string, unknown[], RequestOptions, string]>([
    ["an unknown method", "session/fly", [], {}, "UNSUPPORTED"],
    ["what every object has", "constructor", [], {}, "UNSUPPORTED"],
    ["what is no member for commands", "session/on", [], {}, "UNSUPPORTED"],
    ["a session that is not open", "session/call", ["x", {}], {}, "SERVER_UNAVAILABLE"],
    ["no session at all", "session/find", ["x"], {}, "SERVER_UNAVAILABLE"],
    ["a server of nobody", "server/start", ["x", false], {}, "INVALID_ARGUMENTS"],
    ["an opening without anything", "session/open", [], {}, "INVALID_ARGUMENTS"],
    ["an unknown agent", "session/open", ["x"], { cwd: "/" }, "INVALID_ARGUMENTS"],
    ["a relative cwd", "session/open", ["main"], { cwd: "a" }, "INVALID_ARGUMENTS"],
    ...[
      { toolNames: {} },
      { toolNames: "x" },
      { tools: null },
      { tools: { allow: 5 } },
      { approval: "maybe" },
      { toolTimeout: "1" },
      { toolTimeout: -1 },
      { id: {} },
      { onSampling: null },
    ].map((wrong): [string, string, unknown[], RequestOptions, string] => [
      JSON.stringify(wrong),
      "session/open",
      ["main"],
      { cwd: "/", ...wrong },
      "INVALID_ARGUMENTS",
    ]),
  ])("%s gets an error, and the link goes on", async (_, method, args, options, code) => {
    const board = await open({});
    const { connect: join_ } = await openChannel({ main: board });
    const link = await join_();
    await expect(link.request(method, args, options)).rejects.toMatchObject({ code });
    expect(await link.request("gateway/status")).toEqual({ name: "test" });
  });

  it.each<[string, string, unknown[]]>([
    ["a name that is no text", "session/call", [1, {}]],
    ["arguments that are a list", "session/call", ["x", []]],
    ["arguments that are nothing", "session/call", ["x", null]],
    ["no name", "session/find", []],
    ["no URI", "session/resources/read", []],
    ["a server that is no text", "session/resources/list", [{}]],
    ["more than the arguments", "session/call", ["x", {}, {}]],
    ["a second session", "session/open", ["main"]],
  ])("%s is refused", async (_, method, args) => {
    const board = await open({});
    const { connect: join_ } = await openChannel({ main: board });
    const link = await join_();
    await link.request("session/open", ["main"], IN_ROOT);
    await expect(link.request(method, args, IN_ROOT)).rejects.toMatchObject({
      code: "INVALID_ARGUMENTS",
    });
    expect(link.isOpen).toBe(true);
  });
});

it("a command has a thousand sessions at most", async () => {
  const board = await open({});
  const { connect: join_ } = await openChannel({ main: board });
  const link = await join_();
  const opened = await Promise.allSettled(
    Array.from({ length: 1002 }, (_, at) =>
      link.request("session/open", ["main"], { ...IN_ROOT, lasting: at + 1 }),
    ),
  );
  expect(opened.flatMap(({ status }, at) => (status === "rejected" ? [at] : []))).toEqual([
    1000, 1001,
  ]);
});

describe("with a server behind it", () => {
  it("requests may follow the opening of a session without waiting for it", async () => {
    const board = await open({ echo: fixture("echo") });
    const { connect: join_ } = await openChannel({ main: board });
    const link = await join_();
    const answers = await Promise.all([
      link.request("session/open", ["main"], IN_ROOT),
      link.request("session/find", ["add"]),
      link.request("session/call", ["echo/add", { a: 1, b: 2 }]),
    ]);
    expect(answers.slice(1)).toMatchObject([
      { tool: { name: "mcp__echo__add" }, isListed: true },
      { structuredContent: { sum: 3 } },
    ]);
  });

  it("a command that does not read its results keeps nobody else waiting", async () => {
    const board = await open({ echo: fixture("echo") });
    const { address, connect: join_, commands } = await openChannel({ main: board });
    const slow = await stranger(address.path);
    await greet(slow, address.key);
    slow.pause();
    const opening = { id: 1, method: "session/open", args: ["main"], options: IN_ROOT };
    slow.write(`${JSON.stringify(opening)}\n`);
    const args = ["echo/big", { bytes: 1024 ** 2 }];
    for (let id = 2; id < 40; id += 1) {
      slow.write(`${JSON.stringify({ id, method: "session/call", args })}\n`);
    }
    const quick = await join_({ pid: 1 });
    await ask(quick, "session/open", ["main"], IN_ROOT);
    for (let each = 0; each < 20; each += 1) {
      const outcome = await ask(quick, "session/call", ["echo/echo", { text: "x" }]);
      expect(textOf(outcome as CallOutcome)).toContain("x");
    }
    slow.destroy();
    await eventually(() => commands.length === 1);
  });

  it("a command that does not read is not sent the progress of its calls", async () => {
    const board = await open({});
    const openSession = board.openSession.bind(board);
    const isFull = deferred();
    let hasAnswered = false;
    board.openSession = async (options) => {
      const session = await openSession(options);
      session.call = (async (name: string, _: JsonObject, { onUpdate }: BoardCallOptions) => {
        if (name === "big") {
          hasAnswered = true;
          return { content: [{ type: "text", text: "x".repeat(5 * 1024 ** 2) }] };
        }
        await isFull.promise;
        onUpdate?.({ content: [], progress: { progress: 1 } });
        return { content: [] };
      }) as typeof session.call;
      return session;
    };
    const { address, channel } = await openChannel({ main: board });
    const slow = await stranger(address.path);
    await greet(slow, address.key);
    slow.pause();
    const say = (message: object): unknown => slow.write(`${JSON.stringify(message)}\n`);
    say({ id: 1, method: "session/open", args: ["main"], options: IN_ROOT });
    const call = { method: "session/call", functions: { onUpdate: 5 } };
    for (const [id, name] of ["slow", "big"].entries())
      say({ id: id + 2, ...call, args: [name, {}] });
    // Only the slow call is left: the answer of the other one is written, and nobody reads it.
    await eventually(() => hasAnswered && channel.inFlight === 1);
    isFull.resolve();
    let text = "";
    slow.on("data", (chunk: Buffer) => (text += String(chunk)));
    slow.resume();
    await eventually(() => text.includes('{"id":2,"result"'));
    expect(text).not.toContain('"method":"tell"');
  });

  it("a command that does not read its trace slows no call, and learns how much it has missed", async () => {
    const board = await open({ echo: fixture("echo") });
    const { address } = await openChannel({ main: board });
    const slow = await stranger(address.path);
    await greet(slow, address.key);
    const say = (message: object): unknown => slow.write(`${JSON.stringify(message)}\n`);
    slow.pause();
    say({ id: 1, method: "agent/attach", args: ["main"] });
    slow.resume();
    await once(slow, "data");
    slow.pause();
    say({ id: 2, method: "agent/trace", ...tracing(7) });
    const big = { bytes: 900_000 };
    // The first ones may come before the trace has begun.
    for (let each = 0; each < 12; each += 1) {
      expect((await board.call("echo/big", big)).isError).not.toBe(true);
    }
    let text = "";
    slow.on("data", (chunk: Buffer) => (text += String(chunk)));
    slow.resume();
    say({ id: 3, method: "release", args: [7] });
    await eventually(() => text.includes('{"id":3}'));
    const told = text.split("\n").filter((line) => line.startsWith('{"method":"tell"'));
    const entries = told.map((line) => {
      const { args } = JSON.parse(line) as { args: [number: number, entry: TraceEntry] };
      expect(args[0]).toBe(70);
      return args[1];
    });
    const lost = entries.flatMap((each) => (each.kind === "lost" ? [each.count] : []));
    expect(entries.some(({ kind }) => kind === "message")).toBe(true);
    expect(lost.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(0);
    // With a number that is in use, the first trace ends.
    text = "";
    say({ id: 4, method: "agent/trace", ...tracing(8) });
    say({ id: 5, method: "agent/trace", ...tracing(8) });
    await eventually(() => text.includes('{"id":5}'));
    await board.call("echo/echo", { text: "once" });
    say({ id: 6, method: "release", args: [8] });
    await eventually(() => text.includes('{"id":6}'));
    expect(text.match(/"method":"tools\/call"/g)).toEqual(['"method":"tools/call"']);
  });

  it("draining lets nobody in, ends no call, and tells the commands", async () => {
    const board = await open({ echo: fixture("echo") });
    const { address, channel, connect: join_ } = await openChannel({ main: board });
    const link = await join_();
    const told = new Promise<void>((resolve) => {
      link.hear("closing", () => resolve());
    });
    await ask(link, "session/open", ["main"], IN_ROOT);
    const call = ask(link, "session/call", ["echo/sleep", { ms: 100 }]);
    await eventually(() => channel.inFlight === 1);
    channel.drain();
    await told;
    await expect(connectChannel(address, me, { clock: systemClock })).rejects.toMatchObject({
      code: "SERVER_UNAVAILABLE",
    });
    expect(textOf((await call) as CallOutcome)).toBe("slept 100 ms");
    await channel.close();
    expect(await link.closed).toEqual({ kind: "gone" });
    // The board is not the channel's to close.
    expect(textOf(await board.call("echo/echo", { text: "still" }))).toContain("still");
  });

  it("closing twice, or while a session opens, leaves nothing behind", async () => {
    const board = await open({ echo: fixture("echo") });
    const { channel, connect: join_, commands } = await openChannel({ main: board });
    const link = await join_();
    const opening = ask(link, "session/open", ["main"], IN_ROOT).catch((error: unknown) => error);
    await Promise.all([channel.close(), channel.close()]);
    expect((await opening) instanceof Error || !link.isOpen).toBe(true);
    expect([commands, channel.inFlight]).toEqual([[], 0]);
  });
});

/** The function that gets the entries has ten times the number of the trace. */
function tracing(trace: number): object {
  return { args: ["echo", 0], functions: { onEntry: trace * 10 }, lasting: trace };
}

/** The greeting of a command that is written by hand. */
async function greet(socket: Socket, key: string): Promise<void> {
  const { proofOf } = await import("../../../../src/serve/attach/greeting.ts");
  const [greeting] = (await once(socket, "data")) as [Buffer];
  const { nonce } = JSON.parse(String(greeting)) as { nonce: string };
  const proof = proofOf("command", key, [nonce, "mine"]);
  socket.write(`${JSON.stringify({ ...me, nonce: "mine", proof })}\n`);
  await once(socket, "data");
}
