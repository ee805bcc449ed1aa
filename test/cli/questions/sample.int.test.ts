// A server that asks for the model of `plugboard ask`, and the person at the terminal.

import { PassThrough } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { fixture } from "../../support/boards.ts";
import { type Model, startModel, type Turn } from "../../support/model/start.mjs";
import { Sink, useScratch } from "../harness.ts";

const scratch = useScratch();

let model: Model | undefined;

afterEach(async () => {
  await model?.close();
  model = undefined;
});

const SAMPLE = {
  method: "sampling/createMessage",
  params: {
    systemPrompt: "You are\u001b[31m a poet.",
    messages: [{ role: "user", content: { type: "text", text: "A rhyme for cat?" } }],
    maxTokens: 50,
  },
};

/** A model that calls the server once, for which it is asked `samples` times in between. */
async function configure(sampling: string, tool: object, samples = 1): Promise<string> {
  const turns: Turn[] = [
    { toolCalls: [{ arguments: SAMPLE, name: "mcp__s__ask", id: "c1", ...tool }] },
    ...Array.from({ length: samples }, () => ({ text: "hat" })),
    { text: "done" },
  ];
  model = await startModel({ turns });
  return scratch.file("plugboard.json5", {
    agents: {
      defaults: {
        model: "scripted/m",
        mcp: { servers: { s: { ...fixture("asks"), sampling } } },
        tools: { approval: "never" },
      },
    },
    models: {
      providers: { scripted: { type: "anthropic", baseUrl: `${model.url}/v1`, apiKey: "k" } },
    },
  });
}

/** What the server was told, as its tool tells it to the model. */
function told(): string {
  return model?.requests.at(-1)?.toolResults[0]?.text ?? "";
}

/** At a terminal where somebody answers every question so. */
async function attended(config: string, ...lines: string[]) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = new Sink({ columns: 80 });
  const running = scratch.start(["--config", config, "ask", "go"], { stdin, stderr });
  let seen = 0;
  for (const line of lines) {
    while (!stderr.text.slice(seen).includes("Allow it?")) {
      await new Promise((resolve) => stderr.once("said", resolve));
    }
    seen = stderr.text.length;
    stdin.write(`${line}\n`);
  }
  return running.done;
}

describe("a server that wants to use the model", () => {
  it.each([
    ["y", "hat"],
    ["YES", "hat"],
    ["a", "hat"],
    ["n", "was declined"],
    ["", "was declined"],
  ])("is allowed or not by what the person types: %j", async (line, answer) => {
    const samples = answer === "hat" ? 1 : 0;
    const config = await configure("ask", {}, samples);
    const { code, stdout, stderr } = await attended(config, line);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "done\n" });
    expect(stderr).toContain(
      [
        "s wants to use the model during ask:",
        "  system prompt: You are a poet.",
        "  ",
        "  user: A rhyme for cat?",
        "Allow it? [y]es, [a]lways, [N]o ",
      ].join("\n"),
    );
    expect(told()).toContain(answer);
    expect(model?.requests).toHaveLength(2 + samples);
  });

  it("is asked about once if the person says always", async () => {
    const flood = { name: "mcp__s__flood", arguments: { ...SAMPLE, count: 2 } };
    const config = await configure("ask", flood, 2);
    const { stderr } = await attended(config, "always");
    expect(stderr.match(/Allow it\?/g)).toHaveLength(1);
    expect(told().match(/hat/g)).toHaveLength(2);
  });

  it("is refused without a terminal", async () => {
    const config = await configure("ask", {}, 0);
    const { code, stderr } = await scratch.run(["--config", config, "ask", "go"]);
    expect(code).toBe(0);
    expect(stderr).not.toContain("wants to use");
    expect(told()).toContain("the request for the model was declined");
  });

  it.each([
    ["ask", ["--yes"]],
    ["allow", []],
  ])("is allowed without a question: sampling %s, %j", async (sampling, flags) => {
    const config = await configure(sampling, {});
    expect((await scratch.run(["--config", config, "ask", "go", ...flags])).code).toBe(0);
    expect(told()).toContain("hat");
  });

  it("is told by default that it cannot", async () => {
    const config = await configure("deny", {}, 0);
    expect((await scratch.run(["--config", config, "ask", "go", "--yes"])).code).toBe(0);
    expect(told()).toContain("-32601");
  });
});
