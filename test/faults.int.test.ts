// One bad server must never hurt the host or its neighbours: every fault a stdio server can have, each
// beside a healthy server that must not notice; and answers that are none, over every transport.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { ServerConfig } from "../src/core/types/server-config.ts";
import type { Board } from "../src/core/types/board.ts";
import { closeAll, owned, serve } from "./fixtures/http/client.ts";
import { startSse } from "./fixtures/http/sse.ts";
import { recordingLogger } from "./support/logger.ts";
import { closeBoards, fixture, open, reaches, statusOf, textOf } from "./support/boards.ts";
import { temporaryDirectory } from "./support/directory.ts";
import { MovableClock } from "./support/movable-clock.ts";
import { eventually } from "./support/processes.ts";

afterEach(closeAll);
// Last, so that it is done first.
closeBoards();

// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f]/;
// oxlint-disable-next-line no-control-regex
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u202e\u{e0041}]/u;

async function besideHealthy(
  bad: ServerConfig,
  logger = recordingLogger(),
): Promise<{ board: Board; lines: typeof logger.lines }> {
  const board = await open({ bad, good: fixture("echo") }, { logger });
  return { board, lines: logger.lines };
}

async function expectHealthy(board: Board): Promise<void> {
  expect(textOf(await board.call("good/echo", { text: "unharmed" }))).toBe("unharmed");
}

describe("noise that is dropped", () => {
  it.each([
    ["log lines on stdout", fixture("log-on-stdout")],
    ["malformed JSON between messages", fixture("malformed-json")],
    ["CRLF line ends", fixture("crlf")],
    ["every byte in a write of its own", fixture("split-writes", "--size=1")],
    ["answers to requests nobody made, and answers given twice", fixture("unknown-id")],
    ["one endless line on stderr", fixture("stderr-long-line", "--bytes=5000000")],
  ])("%s", async (_, server) => {
    const { board } = await besideHealthy(server);
    expect(textOf(await board.call("bad/echo", { text: "grüße 👋🏽" }))).toBe("grüße 👋🏽");
    expect(statusOf(board, "bad").state.kind).toBe("ready");
    await expectHealthy(board);
  });

  it("10 MB of coloured stderr: drained, stripped, bounded in the log and in the tail", async () => {
    const { board, lines } = await besideHealthy(fixture("stderr-flood", "--mb=10"));
    const status = statusOf(board, "bad");
    expect(status.state.kind).toBe("ready");
    const logged = lines.filter(({ fields }) => fields.stream === "stderr");
    expect(logged.length).toBeGreaterThan(0);
    expect(logged.length).toBeLessThan(5000);
    expect(logged.every(({ level, fields }) => level === "warn" && fields.server === "bad")).toBe(
      true,
    );
    expect([...logged.map(({ message }) => message), ...status.stderr].join("")).not.toMatch(
      CONTROL,
    );
    expect(status.stderr.length).toBeLessThanOrEqual(40);
  });

  it("questions without a pause", async () => {
    let answered = 0;
    const board = await open(
      { bad: fixture("asks"), good: fixture("echo") },
      {
        logger: recordingLogger(),
        onElicitation: () => {
          answered += 1;
          return { action: "decline" };
        },
      },
    );
    const stop = new AbortController();
    const params = { message: "Now?", requestedSchema: { type: "object", properties: {} } };
    const asked = { method: "elicitation/create", params };
    const asking = board.call("bad/askForever", asked, { signal: stop.signal });
    let last = 0;
    let most = 0;
    const count = (): void => {
      most = Math.max(most, answered - last);
      last = answered;
      if (!stop.signal.aborted) setImmediate(count);
    };
    count();
    for (let call = 0; call < 30; call += 1) await expectHealthy(board);
    // A few are answered in a turn of the event loop, and then it is somebody else's.
    await expect.poll(() => answered).toBeGreaterThan(100);
    expect(most).toBeLessThanOrEqual(16);
    stop.abort();
    expect((await asking).failure?.code).toBe("CANCELLED");
    await expectHealthy(board);
  });

  it("an answer after its call was cancelled", async () => {
    const { board } = await besideHealthy(fixture("late-reply", "--delay=50"));
    const abort = new AbortController();
    const call = board.call("bad/slow", {}, { signal: abort.signal });
    setTimeout(() => abort.abort(), 50);
    expect((await call).failure?.code).toBe("CANCELLED");
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(statusOf(board, "bad").state.kind).toBe("ready");
  });
});

describe("faults that end the connection, with their cause named", () => {
  it("a line above maxMessageBytes", async () => {
    const server = { ...fixture("huge-line", "--bytes=3000000"), maxMessageBytes: 1_000_000 };
    const { board } = await besideHealthy(server);
    const outcome = await board.call("bad/huge");
    expect(outcome.failure?.code).toBe("MESSAGE_TOO_LARGE");
    expect(textOf(outcome)).toContain("more than 976.6 KiB (maxMessageBytes)");
    expect(textOf(outcome)).toContain('raise "maxMessageBytes"');
    expect(statusOf(board, "bad").state.kind).toBe("backoff");
    await expectHealthy(board);
  });

  it("an endless line without a newline, in bounded memory", async () => {
    const server = { ...fixture("endless-line", "--from=call"), maxMessageBytes: 4_000_000 };
    const { board } = await besideHealthy(server);
    const before = process.memoryUsage().rss;
    const outcome = await board.call("bad/endless");
    expect(outcome.failure?.code).toBe("MESSAGE_TOO_LARGE");
    expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
  });

  it("nothing but junk on stdout", async () => {
    const { board } = await besideHealthy(fixture("junk-forever", "--from=call"));
    const outcome = await board.call("bad/junk");
    expect(outcome.isError ?? false).toBe(outcome.failure !== undefined);
    await reaches(board, "bad", "backoff");
    expect(statusOf(board, "bad").lastError).toContain("are not JSON-RPC");
    await expectHealthy(board);
  });

  it("a crash in mid-call: the call fails at once, with the exit code", async () => {
    const { board } = await besideHealthy(fixture("echo"));
    const outcome = await board.call("bad/crash");
    expect(outcome.failure).toEqual({
      code: "CONNECTION_CLOSED",
      message:
        "server 'bad' went away during 'crash': the server exited with code 7; the call may have taken effect",
      quote: "",
      mayHaveRun: true,
    });
    // The next call waits for the restart.
    expect(textOf(await board.call("bad/echo", { text: "back" }))).toBe("back");
    expect(statusOf(board, "bad").restarts).toBe(1);
  });

  it("closed pipes with the process living on", async () => {
    const { board } = await besideHealthy(fixture("closes-stdout", "--after=tools/list"));
    await reaches(board, "bad", "backoff");
    expect(statusOf(board, "bad").lastError).toContain("closed its output");
  });

  it("a last answer without its newline still counts", async () => {
    const { board } = await besideHealthy(fixture("no-final-newline"));
    expect((await board.call("bad/last")).isError).toBeUndefined();
  });
});

describe("answers that cannot be read", () => {
  const message = (rest: string): string => `{"jsonrpc":"2.0","id":$ID${rest}}`;
  const result = (value: string): string => message(`,"result":${value}`);
  const TO_CALL = "the server's answer to tools/call";
  const ANSWER =
    /the server's answer(?: to tools\/call)? is not valid JSON(?:, because it has NaN)?: \{"jsonrpc":"2.0","id":/;
  const SECRET = "s3cret-token-of-the-server";

  /** What every transport makes of a line. */
  const failures: [line: string, failure: string | RegExp][] = [
    [message(""), `${TO_CALL} has neither a result nor an error: {"jsonrpc":"2.0","id":`],
    [message(',"result":null'), `${TO_CALL} is not a result: null`],
    [result('"done"'), `${TO_CALL} is not a result: done`],
    [result("[]"), `${TO_CALL} is not a result: []`],
    [result("{}"), `${TO_CALL} has no content: {}`],
    [result('{"nonsense":true}'), `${TO_CALL} has no content: {"nonsense":true}`],
    [result('{"content":null}'), `${TO_CALL} has no content: {"content":null}`],
    [result('{"content":[],"score":NaN}'), ANSWER],
    [`{"result":{"content":[}],"jsonrpc":"2.0","id":$ID}`, /is not valid JSON: \{"result"/],
    [message(',"error":"boom"'), "refused 'raw': boom"],
    [message(',"error":{"code":-32603,"message":"boom"}'), "refused 'raw': boom (-32603)"],
    [result(`{"a":"${"x".repeat(180)}${SECRET}"}`), /has no content: \{"a":"x+\[REDACTED/],
    [result(`{"key":"${SECRET}"}`), 'has no content: {"key":"[REDACTED]"}'],
  ];

  const successes: [line: string, outcome: object][] = [
    [result('{"content":[]}'), { content: [] }],
    [result('{"structuredContent":{"a":1}}'), { content: [], structuredContent: { a: 1 } }],
    [result('{"toolResult":{"a":1}}'), { content: [{ type: "text", text: '{"a":1}' }] }],
    [result('{"content":null,"structuredContent":[1]}'), { content: [], structuredContent: [1] }],
    ['{"jsonrpc":"2.0","id":"$ID","result":{"content":[]}}', { content: [] }],
  ];

  it("fail their call at once, over every transport, with what was received", async () => {
    const [json, stream, modern] = await Promise.all([
      serve({ raw: true, answer: "json" }),
      serve({ raw: true, answer: "sse" }),
      serve({ raw: true, era: "modern" }),
    ]);
    const old = owned(await startSse({ raw: true }));
    const servers: Record<string, ServerConfig> = {
      stdio: { ...fixture("raw-answers"), env: { API_TOKEN: "${API_TOKEN}" } },
      json: { url: json.url },
      stream: { url: stream.url },
      modern: { url: modern.url },
      old: { url: old.url },
    };
    const board = await open(servers, { env: { ...process.env, API_TOKEN: SECRET } });
    for (const server of Object.keys(servers)) {
      for (const [line, failure] of failures) {
        const outcome = await board.call(`${server}/raw`, { line });
        const said = `${server} ${line}: ${textOf(outcome)}`;
        expect(outcome.isError, said).toBe(true);
        expect(outcome.failure?.code, said).toMatch(/^(?:PROTOCOL|SERVER_ERROR)$/);
        expect(outcome.failure?.message, said).toMatch(failure);
        expect(textOf(outcome), said).not.toMatch(CONTROL);
        expect(textOf(outcome), said).not.toContain(SECRET.slice(0, 8));
        expect(textOf(outcome).length, said).toBeLessThan(400);
      }
      for (const [line, outcome] of successes) {
        expect(await board.call(`${server}/raw`, { line }), `${server} ${line}`).toEqual(outcome);
      }
      expect(statusOf(board, server), server).toMatchObject({
        state: { kind: "ready" },
        restarts: 0,
      });
    }
  });

  it("that are not messages are shown when the call times out", async () => {
    const { board } = await besideHealthy({ ...fixture("raw-answers"), toolTimeout: 1000 });
    const answer = (id: string): string => `{"jsonrpc":"2.0","id":${id},"result":{"content":[]}}`;
    const cases: [line: string, encoding: string, shown: string][] = [
      [
        `\uFEFF${answer("$ID")}\n`,
        "utf8",
        "is not valid JSON, because it begins with a byte order",
      ],
      [answer('"x"') + "\n", "utf8", 'its id is another text: {"jsonrpc"'],
      [answer("null") + "\n", "utf8", "it has no id: "],
      [`${answer("$ID")}\r`, "utf8", "a line that ends with CR, but messages end with LF: {"],
      // The last one: its second half of the newline is a part of whatever follows.
      [`${answer("$ID")}\n`, "utf16le", "a line that is UTF-16, but messages are UTF-8: {"],
    ];
    for (const [line, encoding, shown] of cases) {
      const outcome = await board.call("bad/bytes", { line, encoding });
      expect(outcome.failure?.code).toMatch(/^(?:TIMEOUT|PROTOCOL)$/);
      expect(textOf(outcome)).toContain(shown);
    }
    await expectHealthy(board);
  });

  it.each<[answer: "json" | "sse"]>([["json"], ["sse"]])(
    "and have no id fail it too, where the response is to this call alone (%s)",
    async (answer) => {
      const server = await serve({ raw: true, answer });
      const board = await open({ remote: { url: server.url } });
      const raw = async (line: string) => (await board.call("remote/raw", { line })).failure;
      expect(
        await raw('{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"boom"}}'),
      ).toEqual({
        code: "SERVER_ERROR",
        quote: "boom",
        message: "server 'remote' refused 'raw': boom (-32603)",
        serverError: { code: -32603 },
      });
      expect(await raw('{"nonsense":true}')).toEqual({
        code: "PROTOCOL",
        quote: '{"nonsense":true}',
        message: `server 'remote': the server answered tools/call with something else: {"nonsense":true}; 'raw' may have taken effect`,
        mayHaveRun: true,
      });
    },
  );

  it.each([
    ["a text", 200, "text/plain", "out of order", "text/plain instead of JSON: out of order"],
    ["a page", 200, "text/html", "<p>Sign in", "text/html instead of JSON: <p>Sign in"],
    [
      "an outage with its reason",
      500,
      "application/json",
      '{"error":{"message":"boom"}}',
      "HTTP 500: boom",
    ],
    ["an outage in plain text", 502, "text/plain", "no upstream", "HTTP 502: no upstream"],
  ])("and are not even JSON show what came: %s", async (_, code, type, body, shown) => {
    const status = [{ tool: "echo", code, times: 1, headers: { "content-type": type }, body }];
    const server = await serve({ status });
    const board = await open({ remote: { url: server.url } });
    const outcome = await board.call("remote/echo", { text: "x" });
    expect(textOf(outcome)).toContain(`the server answered tools/call with ${shown}`);
  });
});

describe("servers that do not start", () => {
  it("never answer initialize, or list no tools: the timeout tells what they wrote", async () => {
    const reason = "Error: connect ECONNREFUSED 127.0.0.1:5432";
    const cases: Record<string, [args: string[], said: string, hint: RegExp]> = {
      nothing: [[], "answer within 3 s", /first start/],
      "the reason": [[`--stderr=${reason}\n`], `answer within 3 s: ${reason}`, /start PostgreSQL/],
      "other things": [
        ["--stderr=hello\nlistening"],
        "answer within 3 s; it last wrote: listening",
        /first start/,
      ],
      "a banner on stdout": [
        ["--stdout=Welcome!\n"],
        "answer within 3 s; on stdout it wrote text that is not MCP: Welcome!",
        /first start/,
      ],
      "an answer that ends with CR": [
        ['--stdout={"jsonrpc":"2.0"}\r'],
        'answer within 3 s; on stdout it wrote a line that ends with CR, but messages end with LF: {"jsonrpc":"2.0"}',
        /a line of JSON in UTF-8/,
      ],
      "the reason, when it lists its tools": [
        ["--until-list", `--on-list=${reason}`],
        `list its tools within 3 s: ${reason}`,
        /start PostgreSQL/,
      ],
    };
    // All at once, so that each of them has time to start on a busy machine.
    const servers = Object.values(cases).map(([args], index) => [
      `bad${index}`,
      { ...fixture("never-initialize", ...args), timeout: 3000 },
    ]);
    const board = await open({ ...Object.fromEntries(servers), good: fixture("echo") });
    for (const [index, [name, [, said, hint]]] of Object.entries(cases).entries()) {
      const { lastError, state } = await reaches(board, `bad${index}`, "backoff");
      expect(lastError, name).toBe(`the server did not ${said}`);
      const error = { hint: expect.stringMatching(hint) as unknown };
      expect(state, name).toMatchObject({ error });
    }
    await expectHealthy(board);
  });

  it.each([
    ["stdout", "npx asks before it installs: put -y before the name of the package"],
    ["stderr", "npx asks before it installs: put -y before the name of the package"],
  ])("a question on %s ends the wait, and another attempt would not help", async (where, hint) => {
    const question = "Need to install the following packages:\nserver@1.0.0\nOk to proceed? (y) ";
    const { board } = await besideHealthy(fixture("never-initialize", `--${where}=${question}`));
    expect(statusOf(board, "bad").state).toMatchObject({
      kind: "failed",
      error: {
        code: "HANDSHAKE_FAILED",
        message: "the server waits for an answer: Ok to proceed? (y)",
        hint,
      },
    });
    await expectHealthy(board);
  });

  it.each([
    [
      "a protocol version that never was",
      fixture("wrong-version"),
      "UNSUPPORTED_VERSION",
      "the server speaks protocol version",
    ],
    [
      "a command that does not exist",
      { command: "no-such-command-anywhere" },
      "SPAWN_FAILED",
      "was not found",
    ],
    [
      "a missing working directory",
      { ...fixture("echo"), cwd: "/no/such/directory" },
      "SPAWN_FAILED",
      "/no/such/directory",
    ],
    [
      "a secret reference",
      { ...fixture("echo"), env: { KEY: "secret://env/SURELY_NOT_SET" } },
      "SECRET_UNAVAILABLE",
      "secret",
    ],
    [
      "an unset variable",
      { ...fixture("echo"), env: { KEY: "${SURELY_NOT_SET}" } },
      "UNRESOLVED_VALUE",
      "SURELY_NOT_SET",
    ],
    ["plain http to another machine", { url: "http://example.com/mcp" }, "REFUSED_ADDRESS", "http"],
    [
      "a metadata address",
      { url: "https://169.254.169.254/mcp" },
      "REFUSED_ADDRESS",
      "169.254.169.254",
    ],
  ])("%s: failed with the code of its cause, without a retry", async (_, server, code, reason) => {
    const { board } = await besideHealthy(server);
    const { state, lastError } = statusOf(board, "bad");
    expect(state.kind).toBe("failed");
    expect(lastError).toContain(reason);
    const outcome = await board.call("bad/anything");
    expect(outcome.failure?.code).toBe(code);
    expect(textOf(outcome)).toContain(reason);
    await expectHealthy(board);
  });

  it("that exits at once six times is failed, and its status quotes its last words", async () => {
    // Real time would be 31 s: a clock that hurries makes the same supervisor quick.
    const { systemClock } = await import("../src/util/clock.ts");
    const hurried = {
      ...systemClock,
      later: (ms: number, task: () => void) => systemClock.later(ms / 50, task),
    };
    const board = await open({ bad: fixture("stderr-then-exit", "--code=3") }, { clock: hurried });
    const status = await reaches(board, "bad", "failed");
    expect(status.lastError).toMatch(/^the server exited with code 3: .*API_KEY is not set/);
    expect(status.restarts).toBe(5);
  });

  it("that logs its error as a message before it exits: the error is why", async () => {
    const entry = {
      jsonrpc: "2.0",
      id: "1",
      method: "log",
      params: { level: 50, message: "no SID" },
    };
    const script = `console.log(${JSON.stringify(JSON.stringify(entry))}); process.exit(1)`;
    const { board } = await besideHealthy({ command: process.execPath, args: ["-e", script] });
    expect(statusOf(board, "bad").lastError).toBe("the server exited with code 1: Error: no SID");
  });

  it("fails at first and then works", async () => {
    const directory = temporaryDirectory();
    const { board } = await besideHealthy(
      fixture("flaky-start", "--fail=1", `--state=${directory}/count`),
    );
    expect(statusOf(board, "bad").state.kind).toBe("backoff");
    await reaches(board, "bad", "ready");
    expect(statusOf(board, "bad").tools).toBeGreaterThan(0);
  });
});

describe("servers that stop answering", () => {
  it("a stopped process: the call fails by its timeout, and closing still works", async () => {
    const { board } = await besideHealthy({ ...fixture("echo"), toolTimeout: 300 });
    const { pid } = statusOf(board, "bad");
    if (pid === undefined) throw new Error("no pid");
    process.kill(pid, "SIGSTOP");
    const outcome = await board.call("bad/echo", { text: "x" });
    expect(outcome.failure?.code).toBe("TIMEOUT");
    expect(textOf(outcome)).toContain("no answer to tools/call within 300 ms");
    expect(statusOf(board, "bad").state.kind).toBe("ready");
    await expectHealthy(board);
  });

  it("one that reads nothing: a sent call times out, an unsent one says that it has not run", async () => {
    const server = { ...fixture("not-reading", "--after=tools/list"), toolTimeout: 1000 };
    const { board } = await besideHealthy(server);
    const text = "x".repeat(250_000);
    const calls = Array.from({ length: 2000 }, () => board.call("bad/echo", { text }));
    // They are made in one turn, and the neighbour answers before any of them ends.
    await expectHealthy(board);
    const texts = (await Promise.all(calls)).map(textOf);
    expect(texts[0]).toContain("no answer to tools/call within 1 s");
    const unsent = texts.filter((each) => each.includes("and has not run"));
    expect(unsent.length).toBeGreaterThan(1900);
    expect(new Set(unsent)).toEqual(
      new Set([
        "server 'bad': the server does not read its input: tools/call could not be sent within 1 s, and has not run",
      ]),
    );
  });

  it("one that takes everything: calls beyond a small maxMessageBytes wait for room, and none for ever", async () => {
    const server = { ...fixture("crlf"), maxMessageBytes: 1500, toolTimeout: 5000 };
    const board = await open({ server });
    const texts = Array.from({ length: 20 }, (_, at) => String(at).padEnd(800));
    const calls = texts.map((text) => board.call("server/echo", { text }));
    expect((await Promise.all(calls)).map(textOf)).toEqual(texts);
  });

  it.each([["ignores-eof"], ["ignores-sigterm"]])(
    "%s: closing ends it all the same",
    async (name) => {
      const clock = new MovableClock();
      const board = await open({ bad: { ...fixture(name) } }, { clock });
      expect(statusOf(board, "bad").state.kind).toBe("ready");
      let isClosed = false;
      void board.close().then(() => (isClosed = true));
      // A second goes by in a moment.
      await eventually(() => {
        clock.forward(1000);
        return isClosed;
      });
    },
  );
});

describe("lists that are not what they should be", () => {
  it("malformed tools are left out with a diagnostic; the good ones stay", async () => {
    const { board } = await besideHealthy(fixture("malformed-tools"));
    const tools = board
      .tools()
      .filter(({ source }) => source.kind === "mcp" && source.server === "bad");
    for (const name of ["good", "fine", "last"]) {
      expect(tools.map((tool) => tool.name)).toContain(`mcp__bad__${name}`);
      expect(textOf(await board.call(`bad/${name}`))).toBe(name);
    }
    expect(tools.every(({ name }) => /^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name))).toBe(true);
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
    expect(tools.map(({ description }) => description).join("")).not.toMatch(HIDDEN);
    const messages = statusOf(board, "bad")
      .diagnostics.map(({ message }) => message)
      .join("\n");
    for (const fault of [
      "it has no name",
      "inputSchema is not an object",
      "its definition has more than 1 MiB",
      "nested more than 64 deep",
      "leads back to itself",
      "refers outside of itself",
      "listed twice",
    ]) {
      expect(messages).toContain(fault);
    }
    for (const tool of tools) {
      if (tool.source.kind === "mcp") expect((await board.call(tool.name)).failure).toBeUndefined();
    }
  });

  it.each([
    [
      "10 000 tools in pages",
      fixture("many-tools", "--count=10000", "--page=250"),
      2000,
      "cut at 2000 tools",
    ],
    ["a cursor that never advances", fixture("looping-cursor"), undefined, "repeats a page"],
    ["pages without end", fixture("endless-pages", "--page=2"), 128, "cut at 64 pages"],
    ["a list of 20 MB", fixture("huge-list", "--mb=20", "--count=400"), undefined, "cut at 16 MiB"],
  ])("%s: capped, with a diagnostic", async (_, server, count, message) => {
    const { board } = await besideHealthy(server);
    const status = statusOf(board, "bad");
    expect(status.state.kind).toBe("ready");
    expect(status.tools).toBeGreaterThan(0);
    if (count !== undefined) expect(status.tools).toBe(count);
    expect(status.diagnostics.map((each) => each.message).join()).toContain(message);
    await expectHealthy(board);
  });

  it("an error in place of the tools: it runs, with its resources, and is asked again", async () => {
    const until = join(temporaryDirectory(), "there");
    const clock = new MovableClock();
    const starts: string[] = [];
    const bad = fixture("advertises-then-refuses", "--refuses=tools/list", `--until=${until}`);
    const board = await open({ bad, good: fixture("echo") }, { clock });
    board.on("server", ({ state }) => starts.push(state.kind));
    const message = "listing tools: Unauthorized (-32603)";
    expect(statusOf(board, "bad")).toMatchObject({
      state: { kind: "ready" },
      restarts: 0,
      lastError: message,
      diagnostics: [{ message, kind: "unlisted" }],
    });
    expect(await board.resources.list("bad")).toHaveLength(1);
    const said = `erver 'bad' does not tell its tools: ${message}`;
    for (const name of ["bad/echo", "echo2"]) {
      const { failure } = await board.call(name, { text: "x" });
      expect(`${failure?.message} ${failure?.hint}`).toContain(said);
    }
    await expectHealthy(board);
    writeFileSync(until, "");
    clock.forward(5000);
    await eventually(() => statusOf(board, "bad").tools === 1);
    expect(textOf(await board.call("bad/echo", { text: "now" }))).toBe("now");
    expect(statusOf(board, "bad")).toMatchObject({ restarts: 0, diagnostics: [] });
    expect(starts).toEqual([]);
  });

  it("no tools capability, or one that is not meant: ready, with none", async () => {
    const board = await open({
      none: fixture("no-tools"),
      refuses: fixture("advertises-then-refuses"),
    });
    expect(statusOf(board, "none")).toMatchObject({ state: { kind: "ready" }, tools: 0 });
    expect(statusOf(board, "refuses")).toMatchObject({ state: { kind: "ready" }, tools: 0 });
    expect(statusOf(board, "refuses").diagnostics[0]?.message).toContain(
      "does not know tools/list",
    );
  });
});

describe("requests of the server's own", () => {
  it("ping is answered, what the host does not offer is refused, nothing hangs", async () => {
    const { board } = await besideHealthy(fixture("server-requests"));
    const { structuredContent } = await board.call("bad/answers");
    const refused = { code: -32601 };
    expect(structuredContent).toMatchObject({
      ping: {},
      "roots/list": refused,
      "sampling/createMessage": refused,
      "elicitation/create": refused,
      "no/such/method": refused,
    });
  });
});
