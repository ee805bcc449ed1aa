// Editors, clients and shell commands beside one gateway: each a process of its own, all with the gateway's servers.

import { expect, it } from "vitest";
import { processesWith } from "../support/processes.ts";
import { useAgents } from "./acp-agent.ts";
import { FILE, useCommands } from "./commands.ts";

const desk = useAgents();
const commands = useCommands(desk);

it("ten processes with one configuration of ten servers run ten servers", async () => {
  const names = Array.from({ length: 10 }, (_, at) => `s${at}`);
  const servers = Object.fromEntries(names.map((name) => [name, desk.configured("echo")]));
  commands.configure({ agents: { defaults: { mcp: { servers } } } });
  const gateway = commands.run("up", "--port", "0");
  await gateway.said("listens on");
  const editors = await Promise.all([1, 2, 3].map(() => desk.start({ flags: FILE })));
  const clients = [1, 2, 3].map(() => commands.client("serve"));
  const calls = [1, 2, 3, 4].map((at) => commands.run("call", `s${at}/pid`));
  const sessions = await Promise.all(editors.map((each) => each.newSession(desk.directory)));
  const ofClients = await Promise.all(clients.map((each) => each.call("s1__pid")));
  const ofEditors = await Promise.all(
    editors.map(async (editor, at) => {
      const session = sessions[at] ?? "";
      await editor.prompt(session, "/call s1/pid");
      return editor.result(session);
    }),
  );
  await Promise.all(calls.map((each) => each.exited));
  expect(calls.map(({ stderr }) => stderr)).toEqual(["", "", "", ""]);
  expect(processesWith(desk.marker)).toHaveLength(10);
  const pid = calls[0]?.stdout.trim();
  expect(ofClients).toEqual(Array(3).fill(`{"content":[{"type":"text","text":"${pid}"}]}`));
  expect(ofEditors).toEqual(Array(3).fill(pid));

  // An editor brings a server of a name that is shared: it has that one, and the others have theirs.
  const [first, second] = editors;
  const brought = desk.server("s1", "echo");
  const shadowing = (await first?.newSession(desk.directory, [brought])) ?? "";
  await first?.prompt(shadowing, "/call s1/pid");
  expect(first?.result(shadowing)).not.toBe(pid);
  expect(first?.said(shadowing)).toContain("the session's server 's1' replaces");
  expect(processesWith(desk.marker)).toHaveLength(11);
  const shown = commands.run("status", "--json");
  expect(await shown.exited).toBe(0);
  const { gateway: seen, servers: statuses } = JSON.parse(shown.stdout);
  expect(statuses).toHaveLength(10);
  const attached = seen.attached.list.map(({ command }: { command: string }) => command).toSorted();
  expect(attached).toEqual(["acp", "acp", "acp", "serve", "serve", "serve"]);
  await second?.prompt(sessions[1] ?? "", "/call s1/pid");
  expect(second?.result(sessions[1] ?? "")).toBe(pid);

  expect(await first?.leave()).toBe(0);
  expect(processesWith(desk.marker)).toHaveLength(10);
  const down = commands.run("down");
  expect(await down.exited).toBe(0);
  expect(await gateway.exited).toBe(0);
});
