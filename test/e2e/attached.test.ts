// Editors, clients and shell commands beside one gateway: each a process of its own, all with the gateway's servers.

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { eventually, expectNoProcesses, isAlive, processesWith } from "../support/processes.ts";
import { plugboard, useAgents } from "./acp-agent.ts";

const desk = useAgents();
const started: Command[] = [];

afterEach(async () => {
  for (const command of started.splice(0)) await command.kill();
  expectNoProcesses(desk.marker);
});

/** Any command, with everything that it has printed. */
class Command {
  readonly process: ReturnType<typeof plugboard>;
  readonly exited: Promise<number | null>;
  stdout = "";
  stderr = "";

  constructor(...args: string[]) {
    this.process = plugboard(desk.directory, args);
    this.exited = once(this.process, "close").then(([code]) => code as number | null);
    this.process.stdin.on("error", () => {});
    this.process.stdout.setEncoding("utf8").on("data", (text: string) => (this.stdout += text));
    this.process.stderr.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    started.push(this);
  }

  said(text: string): Promise<void> {
    return eventually(() => this.stderr.includes(text));
  }

  /** As a crash would. Resolves when nothing of it is left. */
  async kill(): Promise<void> {
    const { pid } = this.process;
    if (pid !== undefined && isAlive(pid)) this.process.kill("SIGKILL");
    await this.exited;
  }
}

/** A client on stdio, with messages as lines. */
class Client extends Command {
  #ids = 0;

  async request(method: string, params: object = {}): Promise<string> {
    this.#ids += 1;
    const id = this.#ids;
    this.process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    const answer = (): string | undefined =>
      this.stdout.split("\n").find((line) => line.includes(`"id":${id},`) && line.endsWith("}"));
    await eventually(() => answer() !== undefined);
    return JSON.stringify(JSON.parse(answer() ?? "").result);
  }

  call(name: string, args: object = {}): Promise<string> {
    return this.request("tools/call", { name, arguments: args });
  }
}

function configure(config: object): void {
  writeFileSync(join(desk.directory, "config.json"), JSON.stringify(config));
}

const FILE = ["--config", "config.json"];

/** Resolves when a server of the default agent has a call in flight. */
async function arrived(server: string): Promise<void> {
  for (;;) {
    const status = new Command(...FILE, "status", server, "--json");
    await status.exited;
    if (JSON.parse(status.stdout).servers[0].calls.inFlight > 0) return;
  }
}

it("ten processes with one configuration of ten servers run ten servers", async () => {
  const names = Array.from({ length: 10 }, (_, at) => `s${at}`);
  const servers = Object.fromEntries(names.map((name) => [name, desk.configured("echo")]));
  configure({ agents: { defaults: { mcp: { servers } } } });
  const gateway = new Command(...FILE, "up", "--port", "0");
  await gateway.said("listens on");
  const editors = await Promise.all([1, 2, 3].map(() => desk.start({ flags: FILE })));
  const clients = [1, 2, 3].map(() => new Client(...FILE, "serve"));
  const calls = [1, 2, 3, 4].map((at) => new Command(...FILE, "call", `s${at}/pid`));
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
  const shown = new Command(...FILE, "status", "--json");
  expect(await shown.exited).toBe(0);
  const { gateway: seen, servers: statuses } = JSON.parse(shown.stdout);
  expect(statuses).toHaveLength(10);
  const faces = seen.attached.list.map(({ face }: { face: string }) => face).toSorted();
  expect(faces).toEqual(["acp", "acp", "acp", "serve", "serve", "serve"]);
  await second?.prompt(sessions[1] ?? "", "/call s1/pid");
  expect(second?.result(sessions[1] ?? "")).toBe(pid);

  expect(await first?.leave()).toBe(0);
  expect(processesWith(desk.marker)).toHaveLength(10);
  const down = new Command(...FILE, "down");
  expect(await down.exited).toBe(0);
  expect(await gateway.exited).toBe(0);
});

it("a gateway that is killed under three commands of three agents is survived by each", async () => {
  const echo = desk.configured("echo");
  configure({
    agents: {
      defaults: { mcp: { servers: { echo } } },
      list: [{ id: "coder" }, { id: "writer", mcp: { servers: { own: echo } } }],
    },
  });
  const start = (): Command => new Command(...FILE, "up", "--port", "0");
  let gateway = start();
  await gateway.said("listens on");
  const editor = await desk.start({ flags: [...FILE, "--agent", "coder"] });
  const session = await editor.newSession(desk.directory);
  const client = new Client(...FILE, "serve", "--agent", "writer");
  const before = await client.call("own__pid");
  await editor.prompt(session, "/call echo/pid");
  const ofEditor = editor.result(session);

  // Each has a call in flight.
  const inClient = client.call("own__sleep", { ms: 600_000 });
  const inEditor = editor.prompt(session, '/call echo/sleep {"ms": 600000}');
  const shell = new Command(...FILE, "call", "echo/sleep", "ms=600000");
  await arrived("echo");
  await editor.until(() => editor.of(session, "tool_call").length === 2);
  await gateway.kill();
  expect(await inClient).toContain("may have run");
  await inEditor;
  expect(editor.ended(session).at(-1)?.status).toBe("failed");
  expect(editor.result(session)).toContain("may have run");
  expect(await shell.exited).toBe(3);
  expect(shell.stderr).toContain("may have run");

  // The next gateway takes over: nobody starts a server.
  gateway = start();
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
