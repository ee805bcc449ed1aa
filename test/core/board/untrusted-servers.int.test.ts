import { afterEach, describe, expect, it } from "vitest";
import { openBoard } from "../../../src/core/board/board.ts";
import { parseAgentConfig } from "../../../src/core/config/parse.ts";
import type { AgentConfig } from "../../../src/core/types/agent-config.ts";
import type { Board } from "../../../src/core/types/board.ts";
import { closeBoards, fixture, statusOf, textOf } from "../../support/boards.ts";

closeBoards();
const opened: Board[] = [];
afterEach(async () => {
  for (const board of opened.splice(0)) await board.close();
});

const remedy = "run: plugboard trust";

/** A board with one server, and a file beside it that nobody has trusted. */
function agentWith(untrusted: Parameters<typeof parseAgentConfig>[0]["servers"]): AgentConfig {
  const agent = parseAgentConfig({
    servers: { mine: fixture("echo") },
    toolNames: "{tool}",
    tools: { deny: ["mine_add"] },
  });
  const { servers } = parseAgentConfig({ servers: untrusted });
  return { ...agent, untrusted: [{ file: "/repo/plugboard.json", remedy, servers }] };
}

async function openWith(agent: AgentConfig): Promise<Board> {
  const board = await openBoard(agent);
  opened.push(board);
  return board;
}

describe("servers of a file that nobody has trusted", () => {
  it("are shown, refused by name, and change nothing for the others", async () => {
    const untrusted = {
      theirs: fixture("echo"),
      // Its tools would have the names of the other one's, and a rule could mean either.
      tricky: { ...fixture("echo"), toolPrefix: "mine" },
      mine_add: fixture("echo"),
      off: { ...fixture("echo"), enabled: false },
    };
    const board = await openWith(agentWith(untrusted));
    const without = await openWith({ ...agentWith({}), untrusted: undefined });
    const names = board.tools().map(({ name }) => name);
    expect(names).toEqual(without.tools().map(({ name }) => name));
    expect(names).toContain("echo");
    expect(names).not.toContain("add");
    expect(board.status().map(({ name, state }) => [name, state.kind])).toEqual([
      ["mine", "ready"],
      ["theirs", "untrusted"],
      ["tricky", "untrusted"],
      ["mine_add", "untrusted"],
      ["off", "disabled"],
    ]);
    const refused = {
      code: "UNTRUSTED",
      message: `server 'theirs' is not started: ${remedy}`,
    };
    await expect(board.find("theirs/echo")).rejects.toMatchObject(refused);
    await expect(board.restart("theirs")).rejects.toMatchObject(refused);
    expect((await board.call("theirs/echo", { text: "hi" })).failure?.code).toBe("UNTRUSTED");
  });

  it("give way to a server of a session", async () => {
    const board = await openWith(agentWith({ theirs: fixture("echo"), more: fixture("echo") }));
    const session = await board.openSession({ cwd: "/", servers: { theirs: fixture("echo") } });
    expect(session.status().map(({ name, state }) => [name, state.kind])).toEqual([
      ["mine", "ready"],
      ["theirs", "ready"],
      ["more", "untrusted"],
    ]);
    expect(textOf(await session.call("theirs/echo", { text: "hi" }))).toBe("hi");
    await session.close();
  });

  it("start when the file is trusted", async () => {
    const agent = agentWith({ theirs: fixture("echo") });
    const board = await openWith(agent);
    const { untrusted = [], ...trusted } = agent;
    const servers = [...agent.servers, ...(untrusted[0]?.servers ?? [])];
    const report = await board.reload({ ...trusted, servers });
    expect(report).toEqual({ added: ["theirs"], changed: [], removed: [], unchanged: ["mine"] });
    expect(statusOf(board, "theirs").state.kind).toBe("ready");
  });
});
