import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { fixture } from "../../support/boards.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();

it("plugboard serve logs who comes and goes, and every crash, restart and failure of a server", async () => {
  scratch.servers({ echo: fixture("echo"), missing: { command: "no-such-program" } });
  const stdin = new PassThrough();
  const { stderr, done } = scratch.start(["serve"], { stdin });
  const clientInfo = { name: "probe\u001b[2J", version: "9" };
  const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  for (const id of [7, 8]) {
    const message = { jsonrpc: "2.0", id, method: "initialize", params: initialize };
    stdin.write(`${JSON.stringify(message)}\n`);
  }
  const crash = { name: "echo__crash", arguments: {} };
  stdin.write(
    `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: crash })}\n`,
  );
  await Promise.all(["echo: crashed", "missing: start failed"].map((each) => stderr.until(each)));
  stdin.end();
  expect((await done).code).toBe(0);
  expect(stderr.text.match(/^info .*$/gm)).toEqual([
    "info  session begins: probe 9",
    "info  session ends: probe 9",
  ]);
  expect(stderr.text).toMatch(/^error missing: start failed: .* state=failed/m);
  expect(stderr.text).toMatch(/^warn {2}echo: crashed: .* state=backoff/m);
});

it("plugboard serve says nothing of a session that never began", async () => {
  scratch.servers({});
  const stdin = new PassThrough();
  const { done } = scratch.start(["serve"], { stdin });
  stdin.end();
  const { code, stderr } = await done;
  expect([code, stderr]).toEqual([0, expect.not.stringContaining("session")]);
});
