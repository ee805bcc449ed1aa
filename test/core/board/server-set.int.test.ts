// The set of servers of a board, and of a session's board over it: what is on each board after a server was
// added, replaced, removed, shadowed or withheld, and what is announced.

import { tmpdir } from "node:os";
import { afterEach, expect, it, vi } from "vitest";
import { BoardCore } from "../../../src/core/board/core.ts";
import { EarlierRuns } from "../../../src/core/board/earlier-runs.ts";
import { parseAgentConfig } from "../../../src/core/config/parse.ts";
import { openFileState } from "../../../src/core/state/files/open.ts";
import { memoryPins } from "../../../src/core/state/memory.ts";
import type { BoardOptions } from "../../../src/core/types/board-options.ts";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import type { ServerDefinition } from "../../../src/core/types/server-definition.ts";
import { fixture } from "../../support/boards.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { eventually, expectNoProcesses } from "../../support/processes.ts";

const cwd = tmpdir();
const opened: BoardCore[] = [];

afterEach(async () => {
  // Sessions first, as a board closes them.
  for (const core of opened.splice(0).toReversed()) await core.close();
  expectNoProcesses();
});

function definition(name: string, config: ServerConfig): ServerDefinition {
  const [only] = parseAgentConfig({ servers: { [name]: config } }).servers;
  if (only === undefined) throw new Error("no definition");
  return only;
}

async function openCore(
  definitions: readonly ServerDefinition[],
  base?: BoardCore,
  options: BoardOptions = {},
): Promise<BoardCore> {
  const agent = { ...parseAgentConfig({ servers: {} }), servers: [...definitions] };
  const core = new BoardCore({
    configuration: { agent, definitions, cwd, native: [] },
    options,
    over: base && { core: base, directories: [cwd], sessionId: "s", session: { id: "s" } },
  });
  opened.push(core);
  await core.addServers();
  await core.servers.start(options.start ?? "eager", undefined);
  core.opened();
  return core;
}

it("what is known of earlier runs is not looked up for servers that are disabled", async () => {
  const read = vi.spyOn(EarlierRuns.prototype, "read");
  const definitions = [one("on"), one("off", { enabled: false }), one("gone", { enabled: false })];
  await openCore(definitions, undefined, { stateDir: temporaryDirectory() });
  expect(read.mock.calls.map(([{ name }]) => name)).toEqual(["on"]);
  read.mockRestore();
});

/** A server with one tool, `echo`. */
const one = (name: string, more: ServerConfig = {}): ServerDefinition =>
  definition(name, { ...fixture("crlf"), ...more });
/** A server with other tools. */
const other = (name: string): ServerDefinition => definition(name, fixture("content"));

function names(core: BoardCore): string[] {
  return core.tools.list().map(({ name }) => name);
}

function servers(core: BoardCore): string[] {
  return core.servers.names().filter((name) => core.servers.toolsOf(name).length > 0);
}

it("reads what is known of a few servers at a time, however many there are", async () => {
  const definitions = Array.from({ length: 200 }, (_, at) =>
    definition(`s${at}`, { ...fixture("crlf"), enabled: at % 2 === 0 }),
  );
  const pins = memoryPins();
  let reads = 0;
  let underWay = 0;
  let most = 0;
  const core = await openCore(definitions, undefined, {
    start: "none",
    state: {
      ...openFileState(cwd),
      pins: {
        ...pins,
        async read(id) {
          reads += 1;
          underWay += 1;
          most = Math.max(most, underWay);
          await new Promise(setImmediate);
          underWay -= 1;
          return pins.read(id);
        },
      },
    },
  });
  expect(core.servers.names()).toHaveLength(200);
  // Nothing is compared with the pins of a server that is disabled.
  expect(reads).toBe(100);
  expect(most).toBeLessThanOrEqual(16);
});

async function replace(core: BoardCore, by: ServerDefinition): Promise<void> {
  const { entry, replaced } = await core.servers.add(by, cwd);
  await Promise.all([replaced, core.servers.startOne(entry, "eager", undefined)]);
}

it("a replaced server keeps its place, on the session's board too", async () => {
  const board = await openCore([one("a"), one("b"), one("c")]);
  const session = await openCore([], board);
  await replace(board, other("b"));
  expect(servers(board)).toEqual(["a", "b", "c"]);
  expect(servers(session)).toEqual(["a", "b", "c"]);
  expect(names(session)).toEqual(names(board));
  expect(names(board)).not.toContain("mcp__b__echo");
});

it("a server replaced by one with another prefix has its new names on both boards", async () => {
  const board = await openCore([one("a")]);
  const session = await openCore([], board);
  await replace(board, one("a", { toolPrefix: "x" }));
  expect([names(board), names(session)]).toEqual([["mcp__x__echo"], ["mcp__x__echo"]]);
  expect(session.servers.findTool("mcp__a__echo")).toBeUndefined();
});

it("a server that is added to or removed from the agent's board comes and goes in its sessions", async () => {
  const board = await openCore([one("a")]);
  const session = await openCore([], board);
  const changes: unknown[] = [];
  session.on("tools", (change) => changes.push(change));
  await replace(board, one("b"));
  await board.servers.remove("a");
  expect(names(session)).toEqual(["mcp__b__echo"]);
  expect(changes).toEqual([
    { added: ["mcp__b__echo"], removed: [], changed: [] },
    { added: [], removed: ["mcp__a__echo"], changed: [] },
  ]);
});

it("a session's own server shadows the agent's until it is removed, whatever happens to the agent's", async () => {
  const board = await openCore([one("a"), one("b")]);
  const session = await openCore([], board);
  await replace(session, other("a"));
  await replace(board, one("a", { toolPrefix: "x" }));
  expect(names(session)).not.toContain("mcp__x__echo");
  // Shared servers come first, the session's own last.
  expect(servers(session)).toEqual(["b", "a"]);
  await session.servers.remove("a");
  expect(names(session)).toEqual(["mcp__x__echo", "mcp__b__echo"]);
});

it("a withheld server is off the session's board alone, and stays off when it is replaced", async () => {
  const board = await openCore([one("a")]);
  const session = await openCore([], board);
  session.servers.withhold("a");
  await replace(board, one("a", { toolPrefix: "x" }));
  expect([names(board), names(session)]).toEqual([["mcp__x__echo"], []]);
  expect(session.servers.withheld().map(({ name }) => name)).toEqual(["a"]);
  session.servers.release("a");
  expect(names(session)).toEqual(["mcp__x__echo"]);
});

it("a server for each session is on no other board", async () => {
  const board = await openCore([one("a", { scope: "session" }), one("b")]);
  const session = await openCore([], board);
  expect([servers(board), servers(session)]).toEqual([["a", "b"], ["b"]]);
});

it("a closed session has nothing of the agent's, and hears of nothing", async () => {
  const board = await openCore([one("a")]);
  const session = await openCore([], board);
  const changes: unknown[] = [];
  session.on("tools", (change) => changes.push(change));
  await session.close();
  await replace(board, one("b"));
  expect([names(session), session.servers.all(), changes]).toEqual([[], [], []]);
});

it("a removed server that is still starting is announced no more", async () => {
  const board = await openCore([]);
  const changes: unknown[] = [];
  board.on("tools", (change) => changes.push(change));
  const { entry } = await board.servers.add(definition("a", fixture("slow-start", "300")), cwd);
  void entry.supervisor.start();
  await eventually(() => entry.supervisor.state.kind === "starting");
  await board.servers.remove("a");
  expect([changes, board.servers.all()]).toEqual([[], []]);
});
