import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { fixture } from "../../support/boards.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();

it("what the gateway's server said to several calls is recorded, and said again without it", async () => {
  scratch.servers({ echo: fixture("echo") });
  const up = await scratch.up();
  const record = scratch.start(["record", "echo", "echo.jsonl"]);
  await record.stderr.until("plugboard restart echo");
  await scratch.run(["restart", "echo"]);
  const calls = [
    ["add", "a=1", "b=2"],
    ["progress", "steps=2", "ms=1"],
    ["echo", "text=hi"],
  ];
  const said = [];
  for (const [tool, ...args] of calls) {
    const { stdout } = await scratch.run(["call", `echo/${tool}`, ...args, "--json"]);
    said.push(JSON.parse(stdout));
  }
  record.events.emit("SIGINT");
  const { code, stderr } = await record.done;
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(/recorded \d+ messages in echo.jsonl\n$/),
  ]);
  up.events.emit("SIGTERM");
  await up.done;

  const stdin = new PassThrough();
  const replay = scratch.start(["replay", "echo.jsonl"], { stdin });
  const ask = async (id: number, method: string, params: object): Promise<unknown> => {
    stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    await replay.stdout.until(`"id":${id},`);
    const line = replay.stdout.text.split("\n").find((each) => each.includes(`"id":${id},`));
    return (JSON.parse(line ?? "") as { result: unknown }).result;
  };
  const { protocolVersion } = (await ask(1, "initialize", {})) as { protocolVersion: string };
  expect(protocolVersion).toBe("2025-11-25");
  expect(await ask(2, "tools/list", {})).toMatchObject({ tools: expect.any(Array) });
  const again = [
    await ask(3, "tools/call", { name: "add", arguments: { a: 1, b: 2 } }),
    await ask(4, "tools/call", {
      name: "progress",
      arguments: { steps: 2, ms: 1 },
      _meta: { progressToken: "p" },
    }),
    await ask(5, "tools/call", { name: "echo", arguments: { text: "hi" } }),
  ];
  expect(again).toMatchObject(said.map(({ content }) => ({ content })));
  const progress = replay.stdout.text.match(/"progressToken":"p"/g);
  expect(progress?.length).toBe(2);
  stdin.end();
  expect((await replay.done).code).toBe(0);
});

it("plugboard record and replay refuse what they cannot use", async () => {
  scratch.servers({ echo: fixture("echo") });
  scratch.file("mine.txt", "mine");
  const cases: [string[], number, string][] = [
    [["record", "echo"], 2, "missing required argument 'file'"],
    [["record", "echo", "mine.txt", "echo", "text=hi"], 2, "there is a file"],
    [["record", "ecco", "new.jsonl"], 2, "did you mean 'echo'?"],
    [["record", "ecco", "mine.txt", "--force"], 2, "did you mean 'echo'?"],
    [["replay", "new.jsonl"], 2, "there is no file"],
    [["replay", "mine.txt"], 2, "line 1 is not the beginning of a recording"],
  ];
  for (const [words, code, message] of cases) {
    const { code: given, stdout, stderr } = await scratch.run(words);
    expect([words, given, stdout, stderr]).toEqual([
      words,
      code,
      "",
      expect.stringContaining(message),
    ]);
  }
  expect(scratch.read("mine.txt")).toBe("mine");
  const recorded = await scratch.run([
    "record",
    "echo",
    "mine.txt",
    "add",
    "a=1",
    "b=2",
    "--force",
    "--json",
  ]);
  expect(recorded.code).toBe(0);
  expect(JSON.parse(recorded.stdout)).toMatchObject({ messages: 7, cut: 0, lost: 0 });
});
