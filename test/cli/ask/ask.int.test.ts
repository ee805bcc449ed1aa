// `plugboard ask`: a prompt to a scripted model with the tools of real servers.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { type Clock, systemClock } from "../../../src/util/clock.ts";
import { fixture } from "../../support/boards.ts";
import {
  startModel,
  type Model,
  type ModelOptions,
  type Turn,
} from "../../support/model/start.mjs";
import { Sink, useScratch } from "../harness.ts";

const scratch = useScratch();

let model: Model | undefined;

afterEach(async () => {
  await model?.close();
  model = undefined;
});

/** A model, and a configuration that asks it. */
async function configure(turns: ModelOptions["turns"], defaults: object = {}): Promise<string> {
  model = await startModel({ turns });
  return scratch.file("plugboard.json5", {
    agents: {
      defaults: { model: "scripted/m", mcp: { servers: { echo: fixture("echo") } }, ...defaults },
    },
    models: {
      providers: { scripted: { type: "anthropic", baseUrl: `${model.url}/v1`, apiKey: "k" } },
    },
  });
}

const ask = (config: string, ...argv: string[]) =>
  scratch.run(["--config", config, "ask", ...argv]);

const CALL = { toolCalls: [{ name: "mcp__echo__echo", arguments: { text: "hi" }, id: "c1" }] };

describe("plugboard ask", () => {
  it("sends a prompt to the model, and prints its answer on stdout", async () => {
    const config = await configure([{ thinking: "hm", text: "forty-two" }]);
    expect(await ask(config, "what", "is", "it?")).toEqual({
      code: 0,
      stdout: "forty-two\n",
      stderr: "",
    });
    expect(model?.requests[0]?.messages.at(-1)?.text).toBe("what is it?");
    expect(model?.requests[0]?.tools.map(({ name }) => name)).toContain("mcp__echo__echo");
  });

  it("lets the model search where there are many tools, and says so", async () => {
    const config = await configure(
      [
        { toolCalls: [{ name: "search_tools", arguments: { queries: ["a voucher"], limit: 9 } }] },
        { toolCalls: [{ name: "mcp__office__find_voucher", arguments: { id: "7" } }] },
        { text: "found" },
      ],
      { mcp: { servers: { office: { ...fixture("office"), trusted: true } } } },
    );
    const { code, stdout, stderr } = await ask(config, "delete the refund");
    expect([code, stdout]).toEqual([0, "found\n"]);
    expect(stderr).toContain("tool search is on, since there are more than 50 tools");
    const offered = model?.requests.map(({ tools }) => tools.map(({ name }) => name)) ?? [];
    expect(offered[0]?.slice(0, 2)).toEqual(["search_tools", "mcp__office__delete_refund"]);
    expect(offered[1]).toContain("mcp__office__find_voucher");
    expect(model?.requests[2]?.toolResults[1]?.text).toContain('"tool":"find_voucher","id":"7"');
  });

  it("makes the calls that the model asks for, and prints a line for each", async () => {
    const config = await configure([{ text: "let me see", ...CALL }, { text: "it said hi\n" }]);
    expect(await ask(config, "go", "--yes")).toEqual({
      code: 0,
      stdout: "let me see\nit said hi\n",
      stderr: 'echo/echo {"text":"hi"}\n',
    });
    expect(model?.requests[1]?.toolResults[0]?.text).toContain("EXTERNAL_UNTRUSTED_CONTENT");
  });

  it("beside a gateway has the same tools under the same names, and its calls need approval too", async () => {
    const config = await configure([CALL, { text: "then not" }, CALL, { text: "it said hi" }]);
    const gateway = await scratch.up(["--config", config]);
    const refused = await ask(config, "go");
    expect([refused.code, refused.stdout]).toEqual([0, "then not\n"]);
    expect(refused.stderr).toContain("needs your approval");
    const allowed = await ask(config, "go", "--yes");
    expect([allowed.code, allowed.stdout]).toEqual([0, "it said hi\n"]);
    expect(model?.requests[3]?.toolResults[0]?.text).toContain("EXTERNAL_UNTRUSTED_CONTENT");
    expect(gateway.stderr.text.match(/command attached: ask/g)).toHaveLength(2);
  });

  it("neither shows the model a manual tool nor lets it call one", async () => {
    const include = { default: "manual", tools: { add: "always" } };
    const servers = { echo: { ...fixture("echo"), include } };
    const config = await configure([CALL, { text: "then not" }], { mcp: { servers } });
    expect((await ask(config, "go", "--yes")).stdout).toBe("then not\n");
    expect(model?.requests[0]?.tools.map(({ name }) => name)).toEqual(["mcp__echo__add"]);
    expect(model?.requests[1]?.toolResults[0]).toMatchObject({ isError: true });
    const call = await scratch.run(["--config", config, "call", "echo/echo", "text=hi"]);
    expect(call).toMatchObject({ code: 0, stdout: "hi\n" });
  });

  it("makes no call without approval", async () => {
    const config = await configure([CALL, { text: "then not" }]);
    const { code, stderr } = await ask(config, "go");
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^echo\/echo .*\necho\/echo needs your approval: .*\n(?: .*\n)+ {4}text: "hi"\necho\/echo failed: .*--yes/,
    );
    expect(model?.requests[1]?.toolResults[0]).toMatchObject({ isError: true });
  });

  it("asks the person at the terminal", async () => {
    const config = await configure([CALL, { text: "done" }]);
    const stdin: PassThrough & { isTTY?: boolean } = new PassThrough();
    stdin.isTTY = true;
    const stderr = new Sink({ columns: 80 });
    const running = scratch.start(["--config", config, "ask", "go"], { stdin, stderr });
    await stderr.until("Allow this call?");
    stdin.write("y\n");
    expect((await running.done).stdout).toBe("done\n");
    expect(model?.requests[1]?.toolResults[0]).toMatchObject({ isError: false });
  });

  it("does not ask if the configuration says so", async () => {
    const config = await configure([CALL, { text: "done" }], { tools: { approval: "never" } });
    expect((await ask(config, "go")).code).toBe(0);
    expect(model?.requests[1]?.toolResults[0]).toMatchObject({ isError: false });
  });

  it("prints every event as a line of JSON with --json", async () => {
    const config = await configure([{ thinking: "hm", ...CALL }, { text: "done\u009b" }]);
    const { code, stdout, stderr } = await ask(config, "go", "--yes", "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).not.toContain("\u009b");
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(events[0]).toEqual({ type: "step", step: 1 });
    expect(events).toContainEqual({
      type: "tool_call",
      id: expect.any(String),
      name: "mcp__echo__echo",
      input: { text: "hi" },
      source: { kind: "mcp", server: "echo", tool: "echo" },
    });
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "tool_result",
        isError: false,
        outcome: expect.objectContaining({ content: [{ type: "text", text: "hi" }] }),
      }),
    );
    expect(events.at(-1)).toMatchObject({ type: "end", reason: "end_turn" });
    expect(new Set(events.map(({ type }) => type))).toEqual(
      new Set(["step", "thought", "text", "tool_call", "tool_result", "usage", "end"]),
    );
  });

  it("reads the prompt from stdin", async () => {
    const config = await configure([{ text: "ok" }]);
    const argv = ["--config", config, "ask", "-"];
    expect((await scratch.run(argv, { stdin: "from a file\n" })).code).toBe(0);
    expect(model?.requests[0]?.messages.at(-1)?.text).toBe("from a file\n");
    const both = await scratch.run(["--exit-with-stdin", ...argv]);
    expect(both).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--exit-with-stdin cannot be used"),
    });
    const typed: PassThrough & { isTTY?: boolean } = new PassThrough();
    typed.isTTY = true;
    const running = scratch.start(argv, { stdin: typed });
    await running.stderr.until("Ctrl-D");
    typed.end(" ");
    expect(await running.done).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("plugboard: the prompt is empty"),
    });
  });

  it("uses the configured system prompt and steps, and the model given with --model", async () => {
    const config = await configure(() => CALL, { systemPrompt: "You are Kim.", maxSteps: 2 });
    const { code, stderr } = await ask(config, "go", "--yes", "--model", "scripted/other");
    expect(code).toBe(1);
    expect(stderr).toContain("stopped before the model was done: it reached maxSteps");
    expect(model?.requests).toHaveLength(2);
    expect(model?.requests[0]).toMatchObject({ model: "other" });
    expect(model?.requests[0]?.messages[0]?.text).toMatch(/^You are Kim\./);
  });

  it.each([
    ["length", "the answer is cut off"],
    ["filter", "the model's provider refused to answer"],
  ] as const)("says that an answer is not whole: %s", async (finish, words) => {
    const config = await configure([{ text: "so far", finish }]);
    const { code, stdout, stderr } = await ask(config, "go");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "so far\n" });
    expect(stderr).toContain(words);
  });

  it("shows progress, notices and what was left out", async () => {
    const long = "word ".repeat(200_000);
    const config = await configure([
      { toolCalls: [{ name: "mcp__echo__echo", arguments: { text: long } }] },
      {
        toolCalls: [{ name: "mcp__echo__echo", arguments: { text: "x" } }],
        usage: { input: 190_000, output: 1 },
      },
      { text: "done" },
    ]);
    const { code, stderr } = await ask(config, "go", "--yes");
    expect(code).toBe(0);
    expect(stderr).toContain("the conversation no longer fits the model: 1 tool result left out");
  });

  it("tells the model which servers are down", async () => {
    const config = await configure([{ text: "ok" }], {
      mcp: { servers: { gone: { command: "plugboard-no-such-command" } } },
    });
    expect((await ask(config, "go")).code).toBe(0);
    expect(model?.requests[0]?.messages[0]?.text).toContain("not available now: gone (failed)");
  });

  it("strips escapes for a terminal", async () => {
    const config = await configure([{ text: "a\u001b[31mred" }]);
    const stdout = new Sink({ columns: 80 });
    const { code } = await scratch.run(["--config", config, "ask", "go"], { stdout });
    expect(code).toBe(0);
    expect(stdout.text).not.toContain("\u001b");
    expect(stdout.text.endsWith("red\n")).toBe(true);
  });

  it("retries, says so, and gives up with exit code 3", async () => {
    const down = (): Turn => ({ error: { status: 503, message: "overloaded" } });
    const config = await configure(down, { mcp: { servers: {} } });
    const clock: Clock = {
      ...systemClock,
      after: (ms, task) => systemClock.after(ms > 60_000 ? ms : 0, task),
    };
    const { code, stderr } = await scratch.run(["--config", config, "ask", "go"], { clock });
    expect(code).toBe(3);
    expect(stderr).toMatch(/answered with 503: overloaded; asking again in [\d.]+ (m?)s\n/);
    expect(stderr).toMatch(
      /plugboard: the model scripted\/m answered with 503: overloaded\nhint: 5 attempts failed: try again later\nmore: plugboard help HTTP_STATUS\n$/,
    );
    const json = await scratch.run(["--config", config, "ask", "go", "--json"], { clock });
    expect(JSON.parse(json.stdout.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({
      type: "end",
      reason: "failed",
      error: {
        code: "HTTP_STATUS",
        hint: "5 attempts failed: try again later",
        status: 503,
        retryable: true,
      },
    });
  });

  it.each([400, 401, 403, 404, 413])(
    "exits with 3 when the model answers with %i",
    async (status) => {
      const config = await configure(() => ({ error: { status, message: "no" } }), {
        mcp: { servers: {} },
      });
      const { code, stdout, stderr } = await ask(config, "go", "--json");
      expect(code).toBe(3);
      expect(stderr).toContain(`answered with ${status}`);
      const error = { status, retryable: false };
      expect(JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({ error });
    },
  );

  it("ends with a signal, even in the middle of an answer", async () => {
    const config = await configure([{ text: "once upon a time", chunkDelayMs: 50 }]);
    const running = scratch.start(["--config", config, "ask", "go"]);
    await running.stdout.until("o");
    running.events.emit("SIGINT");
    expect((await running.done).code).toBe(130);
  });

  it.each([
    [3, {}, [], "no model is configured", 'or set "model" in agents.defaults'],
    [3, { model: "nobody/m" }, [], "no model provider is named 'nobody'", "hint: there are"],
    [3, { model: "openai/m" }, [], "needs an API key, and OPENAI_API_KEY is not", "hint: export"],
    [2, { model: "openai/m" }, ["--model", "m"], "'m' does not name a model", "hint: write"],
    [
      2,
      { model: "openai/m" },
      ["--model", "zz/m"],
      "no model provider is named 'zz'",
      "hint: there are",
    ],
  ])(
    "exits with %i and says what to configure: %j %j",
    async (exit, defaults, argv, message, hint) => {
      const config = scratch.file("bare.json", { agents: { defaults } });
      const { code, stdout, stderr } = await ask(config, "go", ...argv);
      expect({ code, stdout }).toEqual({ code: exit, stdout: "" });
      expect(stderr).toContain(message);
      expect(stderr).toContain(hint);
    },
  );

  it("without a configuration uses what a running Ollama has, and says so", async () => {
    model = await startModel({ turns: [{ text: "hello" }], models: ["qwen3:8b"] });
    const env = { OLLAMA_BASE_URL: `${model.url}/v1` };
    const { code, stdout, stderr } = await scratch.run(["ask", "go"], { env });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "hello\n" });
    expect(stderr.split("\n")[0]).toBe(
      `plugboard: no model is configured; using ollama/qwen3:8b, because Ollama runs at ${new URL(model.url).host} (--model or "model" in the configuration chooses another)`,
    );
    expect(model.requests).toMatchObject([{ model: "qwen3:8b" }]);
  });

  it("with a key uses the default model of its provider, and says so", async () => {
    model = await startModel({ turns: () => ({ text: "hello" }), apiKey: "from-env" });
    const anthropic = { type: "anthropic", baseUrl: `${model.url}/v1` };
    const config = scratch.file("keyed.json", { models: { providers: { anthropic } } });
    const env = { ANTHROPIC_API_KEY: "from-env" };
    const { code, stderr } = await scratch.run(["--config", config, "ask", "go"], { env });
    expect(code).toBe(0);
    expect(stderr).toContain("using anthropic/claude-sonnet-5, because ANTHROPIC_API_KEY is set");
    const other = ["--config", config, "ask", "--model", "anthropic/other", "go"];
    expect((await scratch.run(other, { env })).stderr).toBe("");
    expect(model.requests.map((request) => request.model)).toEqual(["claude-sonnet-5", "other"]);
  });

  it("goes through the configured proxy", async () => {
    const seen: (string | undefined)[] = [];
    const proxy = createServer((request, response) => {
      seen.push(request.url);
      response.writeHead(400).end();
    });
    proxy.listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const { port } = proxy.address() as AddressInfo;
    const far = { type: "openai-compatible", baseUrl: "http://models.example/v1" };
    const config = scratch.file("far.json", {
      agents: { defaults: { model: "far/m" } },
      models: { providers: { far } },
      network: { proxy: `http://127.0.0.1:${port}` },
    });
    expect((await ask(config, "go")).code).toBe(3);
    expect(seen).toEqual(["http://models.example/v1/chat/completions"]);
    proxy.closeAllConnections();
    proxy.close();
  });

  it("refuses an empty prompt", async () => {
    expect((await scratch.run(["ask"])).code).toBe(2);
    expect((await scratch.run(["ask", ""])).stderr).toContain("the prompt is empty");
  });
});
