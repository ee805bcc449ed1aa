// What concerns servers of the gateway and of the command at once: saved results, signing in, session servers that match.

import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openBoard } from "../../../../src/core/board/board.ts";
import { parseAgentConfig } from "../../../../src/core/config/parse.ts";
import type { BoardConfig } from "../../../../src/core/types/agent-config.ts";
import type { Board, BoardBase } from "../../../../src/core/types/board.ts";
import type { SessionOptions } from "../../../../src/core/types/board-options.ts";
import { deferred } from "../../../../src/util/deferred.ts";
import { agree, protect } from "../../../core/auth/support.ts";
import { closeAll } from "../../../fixtures/http/client.ts";
import { type AttachedBoardOptions, openAttachedBoard } from "../../../support/attached.ts";
import { fixture, textOf } from "../../../support/boards.ts";
import {
  closeChannels,
  counted,
  openChannel,
  type TestChannel,
} from "../../../support/channels.ts";
import { expectNoProcesses } from "../../../support/processes.ts";
import { temporaryDirectory } from "../../../support/directory.ts";

const boards: Board[] = [];
let stateDir: string;

beforeEach(() => {
  stateDir = temporaryDirectory();
});

afterEach(closeAll);
afterEach(async () => {
  await Promise.all(boards.splice(0).map((board) => board.close()));
  expectNoProcesses();
});
closeChannels();

async function attach(
  config: BoardConfig,
  options: Partial<AttachedBoardOptions> = {},
): Promise<{ gateway: Board; board: Board }> {
  const agent = parseAgentConfig(config);
  const gateway = await openBoard(agent, { stateDir, onlyInSessions: true });
  boards.push(gateway);
  const channel = await openChannel({ [agent.agentId]: gateway });
  const board = await openAttachedBoard({ agent, channel, stateDir, ...options });
  boards.push(board);
  return { gateway, board };
}

describe("results that were too long for a model", () => {
  it("are read by one tool, whichever part saved them", async () => {
    const large = { ...fixture("echo"), maxResultBytes: 1024 };
    const { board } = await attach({
      servers: { shared: large, mine: { ...large, scope: "session" } },
    });
    const session = await board.openSession({ cwd: "/" });
    const files = [];
    for (const [server, letter] of [
      ["shared", "s"],
      ["mine", "m"],
    ] as const) {
      const text = letter.repeat(2000);
      const tool = await session.find(`${server}/echo`);
      const shown = textOf(await tool.execute("1", { text }));
      expect(shown).toContain("read_saved_result");
      files.push({ file: /(\S+\.txt)\]$/.exec(shown)?.[1] ?? "", text });
    }
    const readers = session.tools().filter(({ name }) => name === "read_saved_result");
    expect(readers).toHaveLength(1);
    for (const { file, text } of files) {
      expect(textOf(await session.call("read_saved_result", { file }))).toContain(text);
      expect(textOf((await readers[0]?.execute("2", { file })) ?? { content: [] })).toContain(text);
    }
    const none = await session.call("read_saved_result", { file: "none.txt" });
    expect(none).toMatchObject({ failure: { code: "INVALID_ARGUMENTS" } });
  });
});

describe("signing in", () => {
  it("happens where the person is; the gateway uses the login, and forgets it when told", async () => {
    const oauth = await protect();
    const { gateway, board } = await attach(
      { servers: { docs: { url: oauth.url }, echo: fixture("echo") } },
      { onAuthorization: agree(oauth) },
    );
    const state = (of: BoardBase): string | undefined =>
      of.status().find(({ name }) => name === "docs")?.state.kind;
    expect([state(gateway), state(board)]).toEqual(["needs-auth", "needs-auth"]);
    expect(await board.signIn("docs")).toMatchObject({ state: { kind: "ready" } });
    expect([state(gateway), state(board)]).toEqual(["ready", "ready"]);
    expect(textOf(await board.call("docs/echo", { text: "in" }))).toBe("in");
    expect(await board.signOut("docs")).toBe("revoked");
    expect(state(gateway)).toBe("needs-auth");
    await expect(board.signIn("dosc")).rejects.toMatchObject({ code: "UNKNOWN_SERVER" });
  });

  it("a session's server with the name and URL of a shared one uses its login and its rules", async () => {
    const oauth = await protect();
    const docs = { url: oauth.url };
    const { board } = await attach(
      { servers: { docs: { ...docs, tools: { deny: ["echo"] } } } },
      { onAuthorization: agree(oauth) },
    );
    await board.signIn("docs");
    const session = await board.openSession({ cwd: "/", servers: { docs } });
    expect(session.notices).toContain(
      "the session's server 'docs' replaces the agent's server of that name",
    );
    expect(session.status()).toMatchObject([
      { name: "docs", origin: "session", state: { kind: "ready" } },
    ]);
    expect(await session.call("docs/echo", { text: "mine" })).toMatchObject({
      failure: { code: "REFUSED_BY_POLICY" },
    });
  });
});

it("a single server's tools keep their own names, unless the session brings another", async () => {
  const { board } = await attach({ servers: { echo: fixture("echo") }, toolNames: "{tool}" });
  const names = (of: BoardBase): string[] => of.tools().map(({ name }) => name);
  expect(names(board)).toContain("add");
  const session = await board.openSession({ cwd: "/", servers: { more: fixture("crlf") } });
  expect(names(session)).toEqual(expect.arrayContaining(["echo__add", "more__echo"]));
});

it("a server in the session's ACP client is reached from this process, beside the gateway's", async () => {
  const { board, gateway } = await attach({ servers: { echo: fixture("echo") } });
  const results: Record<string, object> = {
    "server/discover": { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } },
    "tools/list": { tools: [{ name: "saw", inputSchema: { type: "object" } }] },
    "tools/call": { content: [{ type: "text", text: "sawn" }] },
  };
  const asked: string[] = [];
  const session = await board.openSession({
    cwd: "/",
    servers: { shop: { transport: "acp", serverId: "shop:1" } },
    sendMcpMessage: async ({ serverId, method }) => {
      asked.push(`${serverId} ${method}`);
      return { result: { resultType: "complete", ...results[method] } };
    },
  });
  expect(textOf(await session.call("shop/saw"))).toBe("sawn");
  expect(asked).toEqual(["shop:1 server/discover", "shop:1 tools/list", "shop:1 tools/call"]);
  expect(session.status()).toEqual([
    expect.objectContaining({ name: "echo", transport: "stdio" }),
    expect.objectContaining({
      name: "shop",
      transport: "acp",
      target: "in the editor",
      origin: "session",
    }),
  ]);
  expect(gateway.status().map(({ name }) => name)).toEqual(["echo"]);
});

it("rules that match nothing are told, whoever runs the server", async () => {
  const { board } = await attach({
    servers: { echo: fixture("echo"), mine: { ...fixture("echo"), scope: "session" } },
    tools: { deny: ["echo/ad", "mine/ad", "*/ad", "*/crash"] },
  });
  const rules = board.unmatchedRules().map(({ rule }) => rule);
  expect(rules.sort()).toEqual(["*/ad", "echo/ad", "mine/ad"]);
});

it("a gateway that hangs does not keep a command that closes", async () => {
  const agent = parseAgentConfig({ servers: {} });
  const gateway = await openBoard(agent);
  boards.push(gateway);
  const awake = deferred();
  const open = gateway.openSession.bind(gateway);
  gateway.openSession = async (options: SessionOptions) => {
    const session = await open(options);
    const close = session.close.bind(session);
    session.close = () => awake.promise.then(close);
    return session;
  };
  const { channel, links } = counted(await openChannel({ [agent.agentId]: gateway }));
  const board = await openAttachedBoard({ agent, channel });
  await board.close();
  expect(links.map(({ isOpen }) => isOpen)).toEqual([false]);
  awake.resolve();
});

it("a session that the gateway refuses leaves nothing behind", async () => {
  const { board } = await attach(
    { servers: { echo: fixture("echo"), mine: { ...fixture("echo"), scope: "session" } } },
    { onlyInSessions: true },
  );
  const opening = board.openSession({ cwd: "/", id: 5 as unknown as string });
  await expect(opening).rejects.toMatchObject({ code: "INVALID_ARGUMENTS" });
  const mine = board.status().find(({ name }) => name === "mine");
  expect(mine?.diagnostics).toMatchObject([
    { message: expect.stringContaining("there are 0 now") },
  ]);
});

it("a tool of a server that nobody has listed is called when another gateway has come", async () => {
  const agent = parseAgentConfig({ servers: { late: { ...fixture("echo"), lazy: true } } });
  const [first, next] = await Promise.all(
    [1, 2].map(async () => {
      const board = await openBoard(agent, { start: "none" });
      boards.push(board);
      return openChannel({ [agent.agentId]: board });
    }),
  );
  if (first === undefined) throw new Error("there is no gateway");
  const reattach = async (): Promise<TestChannel | undefined> => next;
  const board = await openAttachedBoard({ agent, channel: first, reattach, start: "none" });
  boards.push(board);
  await first.channel.close();
  expect(textOf(await board.call("late/echo", { text: "here" }))).toBe("here");
});

it("secrets of the command's own servers do not show in answers of the gateway's", async () => {
  const { board } = await attach(
    {
      servers: {
        echo: fixture("echo"),
        mine: { ...fixture("echo"), scope: "session", env: { API_KEY: "very-secret-value-1" } },
      },
    },
    {},
  );
  const shown = textOf(await board.call("echo/echo", { text: "key: very-secret-value-1" }));
  expect(shown).toContain("[REDACTED");
  expect(shown).not.toContain("very-secret");
});

it("a board that cannot be opened lets go of the gateway", async () => {
  const agent = parseAgentConfig({ servers: { echo: fixture("echo") } });
  const gateway = await openBoard(agent);
  boards.push(gateway);
  const { channel, links } = counted(await openChannel({ [agent.agentId]: gateway }));
  const nativeModules = [{ path: join(stateDir, "gone.mjs"), written: "./gone.mjs" }];
  const opening = openAttachedBoard({
    agent: { ...agent, nativeModules },
    channel,
    shares: new Set(["echo"]),
  });
  await expect(opening).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  expect(links.map(({ isOpen }) => isOpen)).toEqual([false]);
});
