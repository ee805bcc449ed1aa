// A gateway that is killed under editors, clients and shell commands: what they do then.

import { expect, it } from "vitest";
import { processesWith } from "../support/processes.ts";
import { useAgents } from "./acp-agent.ts";
import { FILE, useCommands } from "./commands.ts";

const desk = useAgents();
const commands = useCommands(desk);

/** Resolves when a server of the default agent has a call in flight. */
async function arrived(server: string): Promise<void> {
  for (;;) {
    const status = commands.run("status", server, "--json");
    await status.exited;
    if (JSON.parse(status.stdout).servers[0].calls.inFlight > 0) return;
  }
}

it("a gateway that is killed under three commands of three agents is survived by each", async () => {
  const echo = desk.configured("echo");
  commands.configure({
    agents: {
      defaults: { mcp: { servers: { echo } } },
      list: [{ id: "coder" }, { id: "writer", mcp: { servers: { own: echo } } }],
    },
  });
  const start = () => commands.run("up", "--port", "0");
  let gateway = start();
  await gateway.said("listens on");
  const editor = await desk.start({ flags: [...FILE, "--agent", "coder"] });
  const session = await editor.newSession(desk.directory);
  const client = commands.client("serve", "--agent", "writer");
  const before = await client.call("own__pid");
  await editor.prompt(session, "/call echo/pid");
  const ofEditor = editor.result(session);

  // Each has a call in flight.
  const inClient = client.call("own__sleep", { ms: 600_000 });
  const inEditor = editor.prompt(session, '/call echo/sleep {"ms": 600000}');
  const shell = commands.run("call", "echo/sleep", "ms=600000");
  await arrived("echo");
  await editor.until(() => editor.of(session, "tool_call").length === 2);
  await gateway.kill();
  // It has five seconds to be there, also on a slow machine: so it does not wait for what follows.
  gateway = start();
  expect(await inClient).toContain("may have run");
  await inEditor;
  expect(editor.ended(session).at(-1)?.status).toBe("failed");
  expect(editor.result(session)).toContain("may have run");
  expect(await shell.exited).toBe(3);
  expect(shell.stderr).toContain("may have run");

  // The next gateway takes over: nobody starts a server.
  await client.said("another gateway");
  const after = await client.call("own__pid");
  expect(after).not.toBe(before);
  await editor.prompt(session, "/call echo/pid");
  const again = editor.result(session);
  expect(Number(again)).toBeGreaterThan(0);
  expect(again).not.toBe(ofEditor);
  // Those of the default agent, of the coder and of the writer.
  expect(processesWith(desk.marker)).toHaveLength(4);

  // No gateway comes: each goes on with servers of its own, in the same session.
  await gateway.kill();
  await client.said("in this process now");
  expect(await client.call("own__pid")).toContain("text");
  await editor.prompt(session, "/call echo/pid");
  expect(Number(editor.result(session))).toBeGreaterThan(0);
  expect(editor.stderr).toContain("in this process now");
  expect(processesWith(desk.marker)).toHaveLength(3);
  client.process.stdin.end();
  expect(await client.exited).toBe(0);
  expect(await editor.leave()).toBe(0);
});
