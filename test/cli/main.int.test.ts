import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { fixture } from "../support/boards.ts";
import { eventually, startedProcesses } from "../support/processes.ts";
import { Sink, useScratch } from "./harness.ts";

const LIB = new URL("../fixtures/servers/lib.mjs", import.meta.url).href;

const scratch = useScratch();

/** A call that would take a minute, and is under way. */
async function underWay(flags: string[] = [], surroundings = {}) {
  scratch.servers({ echo: fixture("echo") });
  const running = scratch.start(
    ["call", "progress", "steps=6000", "ms=10", ...flags],
    surroundings,
  );
  await running.stderr.until("progress: 1");
  return running;
}

describe("the command line", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ])("stops everything on %s and exits with %i", async (signal, code) => {
    const { events, done, exits } = await underWay();
    events.emit(signal);
    expect(await done).toMatchObject({ code, stdout: "" });
    expect(exits).toEqual([]);
    expect(events.eventNames()).toEqual([]);
  });

  it("tells the server that its call is cancelled before it stops it", async () => {
    const heard = scratch.file("heard", "");
    const server = scratch.file(
      "recorder.mjs",
      `import { appendFileSync } from "node:fs";
      import { NO_ANSWER, serve } from ${JSON.stringify(LIB)};
      const hear = (what) => appendFileSync(${JSON.stringify(heard)}, what + "\\n");
      serve({
        tools: [{ name: "wait", inputSchema: { type: "object" }, call: () => NO_ANSWER }],
        onMessage: ({ method }) => { hear(method); },
      });`,
    );
    scratch.servers({ recorder: { command: process.execPath, args: [server] } });
    const { events, done } = scratch.start(["call", "wait"]);
    await eventually(() => scratch.read("heard").includes("tools/call\n"));
    // As a signal comes: in a turn of the event loop of its own.
    setImmediate(() => events.emit("SIGINT"));
    expect((await done).code).toBe(130);
    expect(scratch.read("heard")).toMatch(/tools\/call\nnotifications\/cancelled\n$/);
  });

  it("stops while servers are starting", async () => {
    scratch.servers({ mute: fixture("never-initialize") });
    for (const argv of [[], ["tools"], ["tools", "--refresh"], ["status"], ["call", "a"]]) {
      const running = scratch.start(argv);
      await eventually(() => startedProcesses().length > 0);
      running.events.emit("SIGINT");
      const { code, stdout, stderr } = await running.done;
      // On a slow machine it says that the stop takes a while.
      const said = stderr.replace(/^plugboard: stopping the servers; .*\n/, "");
      expect([code, stdout, said], argv.join(" ")).toEqual([130, "", ""]);
    }
  });

  it("stops when stdin closes, with --exit-with-stdin", async () => {
    const stdin = new PassThrough();
    const { done } = await underWay(["--exit-with-stdin"], { stdin });
    stdin.end();
    expect(await done).toMatchObject({ code: 130, stdout: "" });
  });

  it.each([
    ["call node x.js echo", "plugboard call <tool> -- node x.js echo", "UNKNOWN_TOOL"],
    [
      "call echo text=hi -e A=1 node x.js",
      "plugboard call echo text=hi -e A=1 -- node x.js",
      "INVALID_ARGUMENTS",
    ],
    [
      "call example.com/mcp echo",
      "plugboard call https://example.com/mcp <tool>",
      "UNKNOWN_SERVER",
    ],
    ["tools localhost:1/mcp", "plugboard tools http://localhost:1/mcp", "UNKNOWN_SERVER"],
    ["tools node x.js", "plugboard tools -- node x.js", undefined],
    ["login localhost:1", "plugboard login http://localhost:1", "UNKNOWN_SERVER"],
  ])("%s: says how a server is typed", async (line, meant, code) => {
    scratch.servers({ echo: fixture("echo") });
    const { stdout, stderr } = await scratch.run(line.split(" "));
    expect(stdout).toBe("");
    expect(stderr).toMatch(/\nhint: .*:\n/);
    const more = code === undefined ? "" : `more: plugboard help ${code}\n`;
    expect(stderr.endsWith(`\n  ${meant}\n${more}`), stderr).toBe(true);
  });

  it.each([
    [["tools", "--server", "ecko"], 2, "UNKNOWN_SERVER", "there is no server named 'ecko'"],
    [["call", "nosuch/tool"], 2, "UNKNOWN_SERVER", "there is no server named 'nosuch'"],
    [["call", "echo/ecko"], 2, "UNKNOWN_TOOL", "there is no tool named 'echo/ecko'"],
    [["call", "echo/echo", "{"], 2, "INVALID_ARGUMENTS", "the argument is not valid JSON"],
    [["login", "echo"], 2, "INVALID_ARGUMENTS", "'echo' is a program"],
    [["--config", "missing.json"], 2, "CONFIG_INVALID", "missing.json"],
    [["tols"], 2, "INVALID_ARGUMENTS", "unknown command 'tols'"],
    [["read", "a:b", "--server", "down"], 3, "SPAWN_FAILED", "server 'down' has failed"],
  ])("prints errors as JSON on stdout with --json: %j", async (argv, code, errorCode, message) => {
    scratch.servers({ echo: fixture("echo"), down: { command: "no-such-command" } });
    const { stdout, stderr, ...ended } = await scratch.run([...argv, "--json"]);
    expect(ended.code).toBe(code);
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: errorCode, message: expect.stringContaining(message) },
    });
    expect(stderr).toContain(`plugboard: `);
    expect(stderr).toContain(message);
  });

  it("breaks what it says between words", async () => {
    scratch.servers({ echo: fixture("echo") });
    const stderr = new Sink({ columns: 30 });
    await scratch.run(["tools", "--server", "zzzz"], { stderr, env: { NO_COLOR: "1" } });
    expect(stderr.text).toBe(
      "plugboard: there is no server\nnamed 'zzzz'\nhint: the servers are: echo\nmore: plugboard help\nUNKNOWN_SERVER\n",
    );
  });

  it("does not touch stdin otherwise", async () => {
    scratch.servers({ echo: fixture("echo") });
    const stdin = new PassThrough().end("for the next command");
    await scratch.run(["call", "echo", "text=a"], { stdin });
    expect(String(stdin.read())).toBe("for the next command");
  });

  it.each([["-"], ["text=@-"]])(
    "refuses --exit-with-stdin if %s is read from stdin",
    async (argument) => {
      const { code, stderr } = await scratch.run(["call", "echo", argument, "--exit-with-stdin"]);
      expect(code).toBe(2);
      expect(stderr).toMatch(
        /^plugboard: --exit-with-stdin cannot be used while the arguments are read from stdin\nhint: /,
      );
    },
  );

  it("does not wait any longer after a second Ctrl-C", async () => {
    const { events, done, exits } = await underWay();
    events.emit("SIGINT");
    events.emit("SIGINT");
    expect(exits).toEqual([130]);
    await done;
  });

  it("says that it is still stopping the servers", async () => {
    scratch.servers({ stubborn: fixture("ignores-sigterm") });
    const { stdout, events, done } = scratch.start(["status"]);
    await stdout.until("stubborn");
    events.emit("SIGINT");
    const { code, stderr } = await done;
    expect(code).toBe(130);
    expect(stderr).toContain("plugboard: stopping the servers; press Ctrl-C again to quit now\n");
  });

  it("ends quietly when the reader of its output is gone", async () => {
    scratch.servers({ echo: fixture("echo") });
    const stdout = new Sink();
    const running = scratch.start(["call", "sleep", "ms=60000"], { stdout });
    const gone = Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
    await eventually(() => startedProcesses().length > 0);
    stdout.emit("error", gone);
    expect(await running.done).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  it("reports an internal error in one line, stops everything and exits with 70", async () => {
    const { events, done } = await underWay();
    events.emit("uncaughtException", new Error("a bug"));
    const { code, stderr } = await done;
    expect(code).toBe(70);
    expect(stderr).toContain(
      "plugboard: internal error: a bug\nhint: this is a bug, please report it; --verbose shows where it happened\n",
    );
  });

  it("shows where an internal error happened with --verbose", async () => {
    const { events, done } = await underWay(["--verbose"]);
    events.emit("unhandledRejection", new Error("a bug"));
    const { code, stderr } = await done;
    expect(code).toBe(70);
    expect(stderr).toMatch(
      /plugboard: internal error: a bug\nError: a bug\n\s+at .*main\.int\.test\.ts/,
    );
  });

  it("reports what a command throws by mistake", async () => {
    const { code, stderr } = await scratch.run(["tools"], {
      env: {},
      clock: { ...(await import("../../src/util/clock.ts")).systemClock, now: broken },
    });
    expect(code).toBe(70);
    expect(stderr).toMatch(/^plugboard: internal error: no time/);
  });

  it("refuses a configuration with every problem in it, and starts nothing", async () => {
    const file = scratch.file("bad.json", '{\n  "agents": { "defalts": {} },\n  "x": 1\n}');
    const { code, stdout, stderr } = await scratch.run(["--config", file, "--json"]);
    expect(code).toBe(2);
    expect(JSON.parse(stdout).error.problems).toMatchObject([
      { file, line: 2, path: "agents.defalts", suggestion: "defaults" },
      { file, line: 3, path: "x" },
    ]);
    expect(stderr).toMatch(
      /^plugboard: the configuration has 2 problems:\n.*bad\.json:2:\d+ .*\n.*bad\.json:3:\d+ .*\nmore: plugboard help CONFIG_INVALID\n$/,
    );
  });

  it.each([
    [
      ["--config", "nope.json"],
      /^plugboard: .*\n.*nope\.json {2}there is no such file; it was named by --config\n/,
    ],
    [
      ["--agent", "x"],
      /^plugboard: there is no agent 'x', because there is no configuration\nhint: name a configuration/,
    ],
  ])("refuses %j", async (argv, message) => {
    const { code, stderr } = await scratch.run(argv);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });

  it("prints help and version without opening a board", async () => {
    expect(await scratch.run(["--version"])).toMatchObject({ code: 0, stderr: "" });
    expect(await scratch.run(["nope"])).toMatchObject({ code: 2, stdout: "" });
  });

  it("shows what servers write to stderr with --verbose, and logs as JSON for programs", async () => {
    scratch.servers({ talks: fixture("stderr-then-exit") });
    const quiet = await scratch.run(["tools"]);
    expect(quiet.stderr).not.toMatch(/^talks \|/m);
    expect(quiet.stderr).toContain("the server exited with code 1: Error: API_KEY is not set\n");
    for (const level of [["--verbose"], ["--log-level", "warn"]]) {
      const text = await scratch.run([...level, "status"]);
      expect(text.stderr).toMatch(/^talks \| Error: API_KEY is not set$/m);
    }
    const json = await scratch.run(["--verbose", "status"], {
      env: { PLUGBOARD_LOG_FORMAT: "json" },
    });
    const lines = json.stderr.split("\n").filter((line) => line.startsWith("{"));
    expect(lines.map((line): unknown => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ level: "warn", server: "talks", stream: "stderr" }),
    );
  });
});

function broken(): never {
  throw new Error("no time");
}
