import { createServer, connect, type Server, type Socket } from "node:net";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { Link, type LinkOptions, type RequestOptions } from "../../../src/serve/attach/link.ts";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import { deferred } from "../../../src/util/deferred.ts";
import { eventually } from "../../support/processes.ts";
import { closeChannels, newAddress } from "../../support/channels.ts";
import { ManualClock } from "../../support/manual-clock.ts";

closeChannels();

const servers: Server[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

const SMALL = { line: 8 * 1024 ** 2, unsent: 8 * 1024 ** 2 };

/** The two ends of a real socket. */
async function pair(): Promise<[Socket, Socket]> {
  const server = createServer();
  servers.push(server);
  const { path } = newAddress();
  server.listen(path);
  await once(server, "listening");
  const near = connect(path);
  const [far] = (await once(server, "connection")) as [Socket];
  sockets.push(near, far);
  return [near, far];
}

async function links(options: Partial<LinkOptions> = {}): Promise<[Link, Link]> {
  const [near, far] = await pair();
  return [
    new Link(near, { peer: "the gateway" }),
    new Link(far, { peer: "the command", ...options }),
  ];
}

/** A link, and the other end as bytes. */
async function linkAndSocket(options: Partial<LinkOptions> = {}): Promise<[Link, Socket]> {
  const [near, far] = await pair();
  far.on("error", () => {});
  return [new Link(near, { peer: "the other side", ...options }), far];
}

describe("a line of too many values, or nested too deep", () => {
  const most = { values: 1000, depth: 8 };
  const many = Array.from({ length: 2000 }, (_, at) => at);

  it("gets its answer if it is a request, and the link goes on", async () => {
    const [near, far] = await links({ most });
    const heard: unknown[] = [];
    far.handle("count", ([list]) => {
      heard.push(list);
      return (list as unknown[]).length;
    });
    await expect(near.request("count", [many])).rejects.toMatchObject({
      code: "INVALID_ARGUMENTS",
      hasNotRun: true,
      message:
        "the request has more than 1000 values; send fewer at once, or all of them as one text",
    });
    await expect(near.request("count", [[[[[[[[[]]]]]]]]])).rejects.toMatchObject({
      message: "the request is nested more than 8 levels deep",
    });
    expect(heard).toEqual([]);
    expect(await near.request("count", [[1, 2]])).toBe(2);
    expect(await near.request("count", [["x,".repeat(2000)]])).toBe(1);
  });

  it("ends the link if it is not", async () => {
    const [near, far] = await links({ most });
    near.notify("count", many);
    expect(await far.closed).toEqual({
      kind: "broken",
      reason:
        "it sent a line that has more than 1000 values; send fewer at once, or all of them as one text",
    });
  });
});

describe("requests", () => {
  it("go both ways at once, with the same ids, and each gets its own answer", async () => {
    const [near, far] = await links();
    for (const [name, link] of Object.entries({ near, far })) {
      link.handle("wait", async ([ms, text]) => {
        await new Promise((resolve) => setTimeout(resolve, ms as number));
        return `${name} ${String(text)}`;
      });
    }
    const ask = (link: Link): Promise<unknown>[] =>
      Array.from({ length: 40 }, (_, at) => link.request("wait", [(at * 7) % 11, at]));
    const answers = (name: string): string[] =>
      Array.from({ length: 40 }, (_, at) => `${name} ${at}`);
    const asked = await Promise.all([...ask(near), ...ask(far)]);
    expect(asked).toEqual([...answers("far"), ...answers("near")]);
    expect([near.inFlight, far.inFlight]).toEqual([0, 0]);
  });

  it.each<[string, unknown]>([
    ["a value", { a: [1, "ä\n\u2028", null] }],
    ["a text", "x"],
    ["nothing", undefined],
    ["no", false],
  ])("are answered with %s, at once or later", async (_, value) => {
    const [near, far] = await links();
    far.handle("now", () => value);
    far.handle("later", async () => value);
    expect(await near.request("now")).toEqual(value);
    expect(await near.request("later")).toEqual(value);
  });

  it("keep everything about an error", async () => {
    const [near, far] = await links();
    const error = new PlugboardError("HTTP_STATUS", "it said no", {
      server: "docs",
      hint: "say please",
      quote: "no",
      isHintQuoted: true,
      permanent: true,
      hasNotRun: true,
      status: 403,
      problems: [{ path: "a.b", message: "wrong" }],
      cause: { error: { code: -32002, data: { uri: "x" } } },
    });
    far.handle("fail", async () => {
      throw error;
    });
    const got = await near.request("fail").catch((reason: unknown) => reason);
    expect(got).toBeInstanceOf(PlugboardError);
    const parts = (each: unknown): unknown =>
      JSON.parse(JSON.stringify({ message: (each as Error).message, each }));
    expect(parts(got)).toEqual(parts(error));
    expect((got as Error).cause).toEqual(error.cause);
  });

  it.each<[string, () => unknown, string, string]>([
    [
      "a handler that throws",
      () => {
        throw new TypeError("oops");
      },
      "SYSTEM_ERROR",
      "oops",
    ],
    ["an answer that is no JSON", () => 1n, "INVALID_RESULT", "cannot be written as JSON"],
    ["an answer in a circle", circle, "INVALID_RESULT", "cannot be written as JSON"],
    [
      "an error with what cannot be written",
      () => {
        throw new PlugboardError("SERVER_ERROR", "no", { cause: { error: circle() } });
      },
      "SERVER_ERROR",
      "no",
    ],
  ])("fail alone: %s", async (_, handler, code, message) => {
    const [near, far] = await links();
    far.handle("it", handler);
    far.handle("fine", () => "fine");
    await expect(near.request("it")).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
    await expect(near.request("fine", [circle()])).rejects.toMatchObject({
      code: "INVALID_ARGUMENTS",
    });
    await expect(near.request("nothing")).rejects.toMatchObject({
      code: "UNSUPPORTED",
      hasNotRun: true,
    });
    expect(await near.request("fine")).toBe("fine");
  });

  it("can be cancelled, also those that nobody was asked to look at", async () => {
    const [near, far] = await links();
    far.handle(
      "sleep",
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new PlugboardError("CANCELLED", "woken")));
        }),
    );
    const ending = new AbortController();
    const asked = near.request("sleep", [], { signal: ending.signal });
    await eventually(() => far.inFlight === 1);
    ending.abort();
    await expect(asked).rejects.toMatchObject({ code: "CANCELLED", message: "woken" });
    await expect(near.request("sleep", [], { signal: ending.signal })).rejects.toMatchObject({
      code: "CANCELLED",
    });
    expect(far.inFlight).toBe(0);
  });

  it("get what they are told before their answer, in its order", async () => {
    const [near, far] = await links();
    far.handle("count", ([to], { onCount }) => {
      for (let each = 1; each <= (to as number); each += 1) call(onCount, each);
      return "done";
    });
    const counted: unknown[] = [];
    const onCount = (value: unknown): void => void counted.push(value);
    const answer = await near.request("count", [3], given({ onCount }));
    expect([...counted, answer]).toEqual([1, 2, 3, "done"]);
  });
});

describe("the functions of a request", () => {
  it("are called until it is answered, or for as long as the link if the request is lasting", async () => {
    const [near, far] = await links();
    const kept: unknown[] = [];
    far.handle("keep", (_, { onValue }) => void kept.push(onValue));
    const heard: unknown[] = [];
    await near.request("keep", [], given({ onValue: () => heard.push("answered") }));
    await near.request("keep", [], given({ onValue: () => heard.push("lasting"), lasting: 1 }));
    for (const each of kept) call(each, "x");
    await eventually(() => heard.length > 0);
    expect(heard).toEqual(["lasting"]);
  });

  it("that several requests use at once are one function there, and answer what they are asked", async () => {
    const [near, far] = await links();
    const seen = new Set<unknown>();
    const bothAre = deferred();
    far.handle("ask", async (_, { onApproval, onSampling }) => {
      const { handler, maxTokens } = onSampling as { handler: unknown; maxTokens: number };
      seen.add(onApproval).add(handler);
      if (near.inFlight === 0 && far.inFlight === 2) bothAre.resolve();
      await bothAre.promise;
      return [await call(onApproval, { tool: "t" }), await call(handler, {}), maxTokens];
    });
    const onApproval = ({ tool }: { tool: string }): string => `may ${tool}`;
    const onSampling = { handler: async () => "model", maxTokens: 5 };
    const options = given({ onApproval, onSampling });
    const asked = [near.request("ask", [], options), near.request("ask", [], options)];
    const answer = ["may t", "model", 5];
    expect(await Promise.all(asked)).toEqual([answer, answer]);
    expect(seen.size).toBe(2);
  });
});

describe("a lasting request", () => {
  it("ends when it is released: its functions are gone on both sides, and what was to be done is done", async () => {
    const [near, far] = await links();
    const tells: ((value: unknown) => void)[] = [];
    const done: string[] = [];
    far.handle("listen", ([name], { onValue, atEnd }) => {
      tells.push(onValue as (value: unknown) => void);
      atEnd(async () => {
        call(onValue, `last of ${String(name)}`);
        await Promise.resolve();
        done.push(String(name));
      });
    });
    const heard: unknown[] = [];
    for (const [at, name] of ["one", "other"].entries()) {
      const onValue = (value: unknown): void => void heard.push(value);
      await near.request("listen", [name], { onValue, lasting: at + 1 });
    }
    await near.release(1);
    expect([heard, done]).toEqual([["last of one"], ["one"]]);
    for (const tell of tells) tell("x");
    await near.release(3);
    expect(heard).toEqual(["last of one", "x"]);
    far.close();
    await far.released;
    expect(done).toEqual(["one", "other"]);
  });

  it.each([
    ["ends with the link", (_: Link, far: Link) => far.destroy()],
    ["ends with the other side", (near: Link) => near.close()],
  ])("%s, and so does what a request leaves to do", async (_, end) => {
    const [near, far] = await links();
    const done: string[] = [];
    far.handle("listen", ([name], { atEnd }) => atEnd(() => done.push(String(name))));
    await near.request("listen", ["lasting"], { lasting: 1 });
    await near.request("listen", ["short"]);
    expect(done).toEqual([]);
    end(near, far);
    await far.closed;
    await far.released;
    expect(done.sort()).toEqual(["lasting", "short"]);
    far.atEnd(() => done.push("too late"));
    expect(done).toContain("too late");
  });
});

describe("the end of a link", () => {
  it.each<[string, (near: Link, far: Link) => void, object, object]>([
    ["closed here", (near) => near.close(), { kind: "closed" }, { kind: "gone" }],
    ["closed there", (_, far) => far.close(), { kind: "gone" }, { kind: "closed" }],
    ["destroyed there", (_, far) => far.destroy(), { kind: "gone" }, { kind: "closed" }],
  ])("%s: what waits fails, what is asked later is not sent", async (_, end, here, there) => {
    const [near, far] = await links();
    const aborted = deferred();
    far.handle("sleep", (_params, { signal }) => {
      signal.addEventListener("abort", () => aborted.resolve());
      return new Promise(() => {});
    });
    const asked = near.request("sleep").catch((error: unknown) => error);
    await eventually(() => far.inFlight === 1);
    end(near, far);
    expect(await asked).toMatchObject({
      code: "SERVER_UNAVAILABLE",
      message: "the gateway went away during the request",
      hasNotRun: false,
    });
    await aborted.promise;
    expect([await near.closed, await far.closed]).toEqual([here, there]);
    await expect(near.request("sleep")).rejects.toMatchObject({ hasNotRun: true });
    near.notify("anything");
    near.close();
    expect([near.isOpen, far.isOpen, far.inFlight]).toEqual([false, false, 0]);
  });

  it("what was answered before the end arrives", async () => {
    const [near, far] = await links();
    far.handle("big", () => {
      setImmediate(() => far.close());
      return "x".repeat(5_000_000);
    });
    expect(await near.request("big")).toHaveLength(5_000_000);
  });
});

describe("what is no message ends the link, and nothing else", () => {
  it.each<[string, string | Buffer, string]>([
    ["words", "hello\n", "not a JSON object"],
    ["a list", "[1]\n", "not a JSON object"],
    ["bytes", Buffer.from([0, 255, 254, 10]), "not a JSON object"],
    ["an object without a meaning", "{}\n", "no message"],
    ["an id that is no number", '{"id":"1","method":"m"}\n', "without an id"],
    ["an id that is no whole number", '{"id":1.5,"method":"m"}\n', "without an id"],
    ["the same id twice", '{"id":1,"method":"wait"}\n{"id":1,"method":"wait"}\n', "without an id"],
    ["options that are no object", '{"id":1,"method":"m","options":[]}\n', "cannot be read"],
    [
      "a function without a number",
      '{"id":1,"method":"m","functions":{"a":{}}}\n',
      "cannot be read",
    ],
    ["a handler that cannot read it", '{"method":"throws"}\n', "could not be read"],
    ["a million brackets", `${"[".repeat(1_000_000)}\n`, "not a JSON object"],
  ])("%s", async (_, bytes, reason) => {
    const [link, other] = await linkAndSocket();
    link.handle("wait", () => new Promise(() => {}));
    link.hear("throws", () => {
      throw new Error("no");
    });
    other.write(bytes);
    expect(await link.closed).toEqual({ kind: "broken", reason: expect.stringContaining(reason) });
  });

  it.each([
    ["an answer to nothing", '{"id":99,"result":1}\n'],
    ["a cancellation of nothing", '{"method":"cancel","args":[99]}\n'],
    ["a notification that nobody hears", '{"method":"unheard"}\n'],
    ["empty lines", "\n\n\n"],
  ])("%s is left alone", async (_, bytes) => {
    const [link, other] = await linkAndSocket();
    link.handle("m", () => "answer");
    other.write(bytes);
    other.write('{"id":7,"method":"m"}\n');
    const [chunk] = (await once(other, "data")) as [Buffer];
    expect(String(chunk)).toBe('{"id":7,"result":"answer"}\n');
    expect(link.isOpen).toBe(true);
  });

  it("a line without end is given up before it takes the memory", async () => {
    const [link, other] = await linkAndSocket({ maxBytes: SMALL });
    const chunk = Buffer.alloc(1024 ** 2, "x");
    const write = (): void => {
      while (!other.destroyed && other.write(chunk));
    };
    other.on("drain", write);
    write();
    expect(await link.closed).toMatchObject({
      kind: "broken",
      reason: expect.stringContaining("bytes"),
    });
  });
});

describe("the other side does not read", () => {
  it("no further requests are read until it does", async () => {
    const [link, other] = await linkAndSocket({ waitsForReader: true });
    other.pause();
    let calls = 0;
    const text = "x".repeat(1024 ** 2);
    link.handle("big", () => {
      calls += 1;
      return text;
    });
    for (let id = 1; id <= 50; id += 1) other.write(`{"id":${id},"method":"big"}\n`);
    await eventually(() => link.isFull);
    expect(calls).toBeLessThan(25);
    let read = 0;
    other.on("data", (chunk: Buffer) => void (read += chunk.length));
    other.resume();
    await eventually(() => calls === 50 && read > 50 * text.length);
    expect(link.isOpen).toBe(true);
  });

  it("who leaves too much unread is cut off", async () => {
    const [link, other] = await linkAndSocket({ waitsForReader: true, maxBytes: SMALL });
    other.pause();
    const text = "x".repeat(5 * 1024 ** 2);
    const ready = deferred();
    let waiting = 0;
    // All are being answered before the first answer is written.
    link.handle("big", async () => {
      waiting += 1;
      if (waiting === 4) ready.resolve();
      await ready.promise;
      return text;
    });
    for (let id = 1; id <= 4; id += 1) other.write(`{"id":${id},"method":"big"}\n`);
    expect(await link.closed).toEqual({
      kind: "broken",
      reason: "it does not read what it is sent",
    });
  });
});

describe("a request that is not answered in time", () => {
  it("waits on while the other side says that it is there", async () => {
    const [near, far] = await pair();
    const clock = new ManualClock();
    const link = new Link(near, { peer: "the gateway", clock });
    const other = new Link(far, { peer: "the command" });
    const answer = deferred<string>();
    other.handle("slow", () => answer.promise);
    const heard: string[] = [];
    link.hear("pong", () => void heard.push("pong"));
    const asked = link.request("slow", [], { patience: 100 });
    for (const rounds of [1, 2]) {
      await clock.advance(100);
      await eventually(() => heard.length === rounds);
      await clock.advance(5000);
    }
    answer.resolve("late");
    expect(await asked).toBe("late");
    expect(clock.next()).toBeUndefined();
  });

  it("fails if it does not, and so does the link", async () => {
    const clock = new ManualClock();
    const [link, other] = await linkAndSocket({ clock });
    other.pause();
    const asked = link.request("slow", [], { patience: 100 }).catch((error: unknown) => error);
    await clock.advance(99);
    expect(link.isOpen).toBe(true);
    await clock.advance(1 + 5000);
    expect(await asked).toMatchObject({ code: "SERVER_UNAVAILABLE", hasNotRun: false });
    expect(await link.closed).toEqual({ kind: "silent" });
  });
});

it("more requests than anybody needs at once are refused, and have not run", async () => {
  const [near, far] = await links();
  far.handle("wait", () => new Promise(() => {}));
  far.handle("fine", () => "fine");
  for (let each = 0; each < 10_000; each += 1) near.request("wait").catch(() => {});
  await expect(near.request("fine")).rejects.toMatchObject({
    code: "SERVER_UNAVAILABLE",
    hasNotRun: true,
  });
});

/** Options with functions in them. */
function given(options: RequestOptions): RequestOptions {
  return options;
}

function call(lent: unknown, ...values: unknown[]): unknown {
  return (lent as (...values: unknown[]) => unknown)(...values);
}

function circle(): unknown {
  const value: { self?: unknown } = {};
  value.self = value;
  return value;
}
