import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { fixture } from "../../support/boards.ts";
import { Sink, useScratch } from "../harness.ts";

const scratch = useScratch();

const call = (...argv: string[]) => scratch.run(["call", ...argv]);

function useServers(): void {
  scratch.servers({ echo: fixture("echo"), content: fixture("content") });
}

const CALLS: [title: string, argv: string[], stdout: string][] = [
  ["a tool by its own name", ["echo", "text=hi"], "hi\n"],
  ["a tool of a server", ["echo/add", "a=1", "b=2.5"], "3.5\n"],
  ["a tool by its public name", ["mcp__echo__add", '{"a": 1, "b": 2}'], "3\n"],
  ["with a text as the text it is", ["echo", "text=5"], "5\n"],
  ["with JSON as it stands", ["echo/add", "a:=1", "b=2"], "3\n"],
  ["as a program writes it", ["echo.add(a: 1, 'b': 2.5,)"], "3.5\n"],
  ["as a program writes it, with JSON", ['echo/echo({"text": "a)b"})'], "a)b\n"],
  ["as a program writes it, without arguments", ["empty()"], "(empty result)\n"],
  ["with options", ["echo/add", "--a", "1", "--b=2.5"], "3.5\n"],
  ["with colons", ["echo/add", "a:1", "b:2.5"], "3.5\n"],
  ["with values in the order of the schema", ["echo/add", "1", "2.5"], "3.5\n"],
  ["with its server before it", ["echo", "add", "1", "2.5"], "3.5\n"],
  ["that has the name of its server", ["echo", "hi"], "hi\n"],
  ["as OpenClaw writes it", ["mcp:echo:add", "a=1", "b=2"], "3\n"],
  ["for structured content", ["structured_only"], '{\n  "value": 1\n}\n'],
  ["for an image", ["image"], "[image: image/png, 70 B]\n"],
  ["for nothing", ["empty"], "(empty result)\n"],
  ["for escapes, as they are", ["escapes"], "\u001b[31mred\u001b[0m \u202edne\u202c\n"],
];

const FAILURES: [title: string, argv: string[], code: number, stderr: string][] = [
  [
    "the tool reports an error",
    ["fail"],
    1,
    "plugboard: echo/fail reported an error:\nit failed\n",
  ],
  [
    "it says that its database does not answer",
    ["error_database"],
    1,
    "plugboard: content/error_database reported an error:\nError: connect ECONNREFUSED 127.0.0.1:5432\nhint: nothing answers at 127.0.0.1:5432: start PostgreSQL, or correct the address\n",
  ],
  [
    "it does so without a word",
    ["error_empty"],
    1,
    "plugboard: content/error_empty reported an error:\n(the tool reported an error without details)\n",
  ],
  [
    "the server refuses",
    ["rpc_error"],
    1,
    "plugboard: server 'echo' refused 'rpc_error': boom (-32000)\nmore: plugboard help SERVER_ERROR\n",
  ],
  [
    "the server refuses in several lines",
    ["rpc_error", 'message:="MCP error -1: boom\\n  at a\\u001b[31m\\n  at b\\n"'],
    1,
    "plugboard: server 'echo' refused 'rpc_error': boom\n  at a\n  at b (-32000)\nmore: plugboard help SERVER_ERROR\n",
  ],
  [
    "arguments are missing",
    ["add", "a=1"],
    2,
    "plugboard: 1 argument missing:\n    b  number\nhint: to see its parameters:\n  plugboard tools echo/add\nmore: plugboard help INVALID_ARGUMENTS\n",
  ],
  [
    "one is missing because it has another name",
    ["add", "a=1", "other=2"],
    2,
    "warn  echo/add: the schema does not describe 'other'; the tool takes a, b\nplugboard: 1 argument missing:\n    b  number\nhint: to see its parameters:\n  plugboard tools echo/add\nmore: plugboard help INVALID_ARGUMENTS\n",
  ],
  [
    "an argument does not fit",
    ["add", "a=x", "b=1"],
    2,
    "plugboard: a: expected number, got 'x'\nhint: to see its parameters:\n  plugboard tools echo/add\nmore: plugboard help INVALID_ARGUMENTS\n",
  ],
  [
    "an argument is unknown",
    ["echo", "txt=a", "text=b"],
    2,
    "plugboard: there is no parameter 'txt'; did you mean 'text'?\nhint: to see its parameters:\n  plugboard tools echo/echo\nmore: plugboard help INVALID_ARGUMENTS\n",
  ],
  [
    "there is no such tool",
    ["echo/ad"],
    2,
    "plugboard: there is no tool named 'echo/ad'\nhint: did you mean 'echo/add'?\nmore: plugboard help UNKNOWN_TOOL\n",
  ],
  [
    "a server is named alone",
    ["content"],
    2,
    "plugboard: there is no tool named 'content'\nhint: it is the name of a server; to list its tools:\n  plugboard tools --server content\nmore: plugboard help UNKNOWN_TOOL\n",
  ],
  [
    "the time is up",
    ["sleep", "ms=60000", "--timeout", "200"],
    3,
    "plugboard: server 'echo': no answer to tools/call within 200 ms; 'sleep' was cancelled but may have taken effect\nhint: if it needs more time, give --timeout <ms>, or raise \"toolTimeout\" for its server\nmore: plugboard help TIMEOUT\n",
  ],
];

describe("plugboard call", () => {
  it("calls a tool however it is named and its arguments are written", async () => {
    useServers();
    // From the second on, only the server that is called is started.
    for (const [title, argv, stdout] of CALLS) {
      expect(await call(...argv), title).toEqual({ code: 0, stdout, stderr: "" });
    }
  });

  it("names the cause if an answer or an argument is nested too deeply", async () => {
    scratch.servers({ evil: fixture("hostile-calls"), echo: fixture("echo") });
    const answered = await call("evil/deep", "--json");
    expect(answered).toMatchObject({ code: 1, stderr: "" });
    const message =
      "server 'evil': its answer is nested more than 1000 levels deep; 'deep' may have taken effect";
    expect(JSON.parse(answered.stdout)).toMatchObject({
      failure: { code: "INVALID_RESULT", message },
    });
    expect((await call("evil/deep")).stderr).toBe(
      `plugboard: ${message}\nmore: plugboard help INVALID_RESULT\n`,
    );
    const args = `{"text":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    const asked = await scratch.run(["call", "echo/echo", "-", "--json"], { stdin: args });
    expect(asked.code).toBe(2);
    expect(asked.stdout).toContain("nested more than 1000 levels deep; the tool was not called");
  });

  it("indents and colours JSON for a person, and leaves every value as it is", async () => {
    useServers();
    const json = '{"a":[1,12345678901234567890],"b":{},"c":"\\u001b[2J\u009b","d":null}';
    const person = new Sink({ columns: 80, rows: 24 });
    const argv = ["call", "echo/echo", `text=${json}`];
    expect((await scratch.run(argv)).stdout).toBe(`${json}\n`);
    const { stdout } = await scratch.run(argv, { stdout: person, env: { NO_COLOR: "1" } });
    expect(stdout.split("\n")).toEqual([
      "{",
      '  "a": [',
      "    1,",
      "    12345678901234567890",
      "  ],",
      '  "b": {},',
      '  "c": "\\u001b[2J\\u009b",',
      '  "d": null',
      "}",
      "",
    ]);
    const painted = await scratch.run(argv, { stdout: new Sink({ columns: 80, rows: 24 }) });
    expect(painted.stdout).toContain('\u001b[36m"b"\u001b[39m: {}');
  });

  it("says how to write a call that cannot be read", async () => {
    useServers();
    expect(await call("echo/add(1, 2)")).toEqual({
      code: 2,
      stdout: "",
      stderr:
        "plugboard: '1, 2' cannot be read as arguments\nhint: write them as in echo/add(text: \"hi\", top: 3), or as text=hi top=3\nmore: plugboard help INVALID_ARGUMENTS\n",
    });
  });

  it("reads arguments from files and from stdin", async () => {
    useServers();
    scratch.file("args.json", { text: "whole" });
    scratch.file("notes.txt", "notes\n");
    expect((await call("echo", "@args.json")).stdout).toBe("whole\n");
    expect((await call("echo", "text=@notes.txt")).stdout).toBe("notes\n");
    const stdin = '{"text": "piped"}';
    expect((await scratch.run(["call", "echo", "-"], { stdin })).stdout).toBe("piped\n");
  });

  it("tells a person at a terminal that input is expected", async () => {
    useServers();
    const stdin: PassThrough & { isTTY?: boolean } = new PassThrough();
    stdin.isTTY = true;
    const running = scratch.start(["call", "echo", "-"], { stdin });
    await running.stderr.until("Ctrl-D");
    stdin.end('{"text": "typed"}');
    expect((await running.done).stdout).toBe("typed\n");
  });

  it("leaves out what has a default, and warns where a schema is not sound", async () => {
    const scale = { type: "string", enum: ["css", "device"], default: "css" };
    const tools = [
      { name: "shot", inputSchema: { properties: { scale }, required: ["scale"] } },
      { name: "odd", inputSchema: { properties: { count: { type: "int" } } } },
    ];
    const file = scratch.file("tools.json", { tools });
    scratch.servers({ page: fixture("from-file", `--file=${file}`) });
    expect(await call("page/shot")).toEqual({ code: 0, stdout: "shot\n", stderr: "" });
    expect((await call("page/shot", "scale=x")).code).toBe(2);
    expect(await call("page/odd", "count=5")).toEqual({
      code: 0,
      stdout: "odd\n",
      stderr:
        'warn  page/odd: count: the schema is not sound here: "int" is no type in JSON Schema\n',
    });
  });

  it("strips escapes for a terminal", async () => {
    useServers();
    const { stdout } = await scratch.run(["call", "escapes"], {
      stdout: new Sink({ columns: 80 }),
    });
    expect(stdout).toBe("red dne\n");
  });

  it("saves binary content on request", async () => {
    useServers();
    const { code, stdout } = await call("mixed", "--output", "out");
    expect(code).toBe(0);
    expect(stdout).toBe(
      "some text\n[image: image/png, 70 B] saved to out/content_mixed-1.png\n" +
        "[audio: audio/wav, 44 B] saved to out/content_mixed-2.wav\n",
    );
    const image = readFileSync(join(scratch.directory, "out/content_mixed-1.png"));
    expect(image.subarray(1, 4).toString()).toBe("PNG");
  });

  it("prints the whole outcome with --json, also for an error", async () => {
    useServers();
    const added = await call("add", "a=1", "b=2", "--json");
    expect(JSON.parse(added.stdout)).toEqual({
      content: [{ type: "text", text: "3" }],
      structuredContent: { sum: 3 },
    });
    const failed = await call("fail", "--json");
    expect(failed).toMatchObject({ code: 1, stderr: "" });
    expect(JSON.parse(failed.stdout)).toEqual({
      content: [{ type: "text", text: "it failed" }],
      isError: true,
    });
  });

  it("fails with the reason, and a code that says whose fault it is", async () => {
    useServers();
    for (const [title, argv, code, stderr] of FAILURES) {
      expect(await call(...argv), title).toEqual({ code, stdout: "", stderr });
    }
  });

  it("names only the option where the server that takes too long was typed", async () => {
    const { command = "", args = [] } = fixture("echo");
    const typed = ["sleep", "ms=60000", "--timeout", "200", "--", command, ...args];
    const { code, stderr } = await call(...typed);
    expect(code).toBe(3);
    expect(stderr).toContain("hint: if it needs more time, give --timeout <ms>\n");
  });

  it("warns of the server that it names, not of others", async () => {
    const asking = { command: "npx", args: ["no-such-package"] };
    scratch.servers({ echo: { ...fixture("echo"), env: { API_KEY: "abc" } }, asking });
    const { stderr } = await call("echo/add", "a=1", "b=2");
    expect(stderr).toContain("echo: the credential in env.API_KEY");
    expect(stderr).not.toContain("npx");
    expect((await call("nonsense/t")).stderr).toMatch(/^plugboard: there is no/);
  });

  it("fails when the server goes away", async () => {
    useServers();
    const { code, stdout, stderr } = await call("crash", "--log-level", "silent");
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toMatch(/^plugboard: server 'echo' went away during 'crash'.*code 7/);
  });

  it("starts no server for arguments that cannot be read", async () => {
    const state = scratch.file("starts", "0");
    scratch.servers({ counted: fixture("flaky-start", `--state=${state}`) });
    const { code, stderr } = await call("counted/echo", "{text}");
    expect(code).toBe(2);
    expect(stderr).toContain(
      "the argument is not valid JSON: unexpected 't' at line 1, column 2\n  {text}\n   ^\n",
    );
    expect((await call("counted/echo", "--output", "starts")).stderr).toMatch(
      /^plugboard: cannot save to /,
    );
    expect(scratch.read("starts")).toBe("0");
  });

  it("starts only the server that it needs", async () => {
    const state = scratch.file("starts", "0");
    scratch.servers({
      echo: fixture("echo"),
      counted: fixture("flaky-start", "--fail=0", `--state=${state}`),
    });
    await call("echo/echo", "text=a");
    expect(scratch.read("starts")).toBe("0");
    await call("counted/echo", "text=a");
    expect(scratch.read("starts")).toBe("1");
    await call("mcp__echo__echo", "text=a");
    expect(scratch.read("starts")).toBe("1");
  });

  it("asks which tool is meant if several have that name", async () => {
    scratch.servers({ one: fixture("echo"), two: fixture("echo") });
    expect(await call("add", "a=1", "b=2")).toEqual({
      code: 2,
      stdout: "",
      stderr:
        "plugboard: several tools are named 'add'\nhint: say which: one/add, two/add\nmore: plugboard help UNKNOWN_TOOL\n",
    });
  });

  it("finds a name among the tools that are known, without starting anything else", async () => {
    const state = scratch.file("starts", "0");
    const known = { one: fixture("echo"), two: { ...fixture("echo"), tools: { deny: ["add"] } } };
    scratch.servers({ ...known, lib: fixture("late-reply") });
    await scratch.run(["tools"]);
    scratch.servers({
      ...known,
      lib: fixture("late-reply"),
      counted: fixture("flaky-start", `--state=${state}`),
    });
    expect((await call("add", "a=1", "b=2")).stdout).toBe("3\n");
    expect((await call("echo", "text=a")).stderr).toBe(
      "plugboard: several tools are named 'echo'\nhint: say which: one/echo, two/echo, lib/echo\nmore: plugboard help UNKNOWN_TOOL\n",
    );
    expect(await call("nosuch/echo", "text=a")).toMatchObject({
      code: 2,
      stderr:
        "plugboard: there is no server named 'nosuch'\nhint: the servers are: one, two, lib, counted\nmore: plugboard help UNKNOWN_SERVER\n",
    });
    expect((await call("lob/echo")).stderr).toContain("did you mean 'lib'?");
    expect(scratch.read("starts")).toBe("0");
  });

  it("says that a name is ambiguous even if a server is down", async () => {
    const down = { ...fixture("never-initialize"), timeout: 1000 };
    scratch.servers({ one: fixture("echo"), down, two: fixture("echo") });
    expect(await call("add", "a=1", "b=2")).toEqual({
      code: 2,
      stdout: "",
      stderr:
        "plugboard: several tools are named 'add'\nhint: say which: one/add, two/add\nmore: plugboard help UNKNOWN_TOOL\n",
    });
  });

  it("does not wait for other servers if the public name is found", async () => {
    scratch.servers({ mute: fixture("never-initialize"), echo: fixture("echo") });
    expect((await call("mcp__echo__echo", "text=a")).stdout).toBe("a\n");
  });

  it("fails for a server that cannot be asked", async () => {
    scratch.servers({ echo: fixture("echo"), missing: { command: "no-such-command" } });
    const { code, stdout, stderr } = await call("missing/tool", "--log-level", "silent");
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toMatch(
      /^plugboard: server 'missing' has failed: .*no-such-command.*\nhint: .*\nmore: plugboard help SPAWN_FAILED\n$/,
    );
  });

  it("fails for an unknown tool while some servers cannot be asked", async () => {
    scratch.servers({ echo: fixture("echo"), missing: { command: "no-such-command" } });
    const { code, stdout, stderr } = await call("some_tool", "--log-level", "silent");
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toMatch(
      /^plugboard: none of the servers that answered has a tool named 'some_tool'\nhint: server 'missing' has failed: .*\nmore: plugboard help SPAWN_FAILED\n$/,
    );
  });

  it("fails for a server that is disabled, also if its tools are known", async () => {
    const disabled = {
      code: 3,
      stdout: "",
      stderr:
        "plugboard: server 'off' is disabled\nhint: to enable it:\n  plugboard enable off\nmore: plugboard help SERVER_UNAVAILABLE\n",
    };
    scratch.servers({ off: { ...fixture("echo"), enabled: false } });
    expect(await call("off/echo", "text=a")).toEqual(disabled);
    scratch.servers({ off: fixture("echo") });
    expect((await call("off/echo", "text=a")).code).toBe(0);
    scratch.servers({ off: { ...fixture("echo"), enabled: false } });
    expect(await call("off/echo", "text=a")).toEqual(disabled);
  });

  it("prints progress", async () => {
    useServers();
    const { stdout, stderr } = await call("progress", "steps=2", "ms=1");
    expect(stdout).toBe("2 steps done\n");
    expect(stderr).toBe("progress: 1/2 (50 %) step 1 of 2\n");
  });

  it("shows progress on a terminal, and clears it away", async () => {
    useServers();
    const stderr = new Sink({ columns: 80, rows: 24 });
    const env = { NO_COLOR: "1" };
    const { stdout } = await scratch.run(["call", "progress", "steps=4", "ms=150"], {
      stderr,
      env,
    });
    expect(stdout).toBe("4 steps done\n");
    expect(stderr.text).toMatch(/echo\/progress +\d+ ms +\d\/4 \(\d+ %\) step \d of 4\n/);
    expect(stderr.text.endsWith("\u001b[1A\r\u001b[J")).toBe(true);
  });
});
