// `plugboard acp --agent-config tsagent -- <tsagent's acp-server> <agent>`: an agent that takes its servers from its own file
// alone, and connects to them before it answers anything.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { ownerName } from "../../src/core/state/process-owner.ts";
import { processesWith } from "../support/processes.ts";
import { useAgents } from "./acp-agent.ts";

const desk = useAgents();
const server = fileURLToPath(new URL("../fixtures/agents/tsagent-server.mjs", import.meta.url));

const MINE = {
  metadata: { name: "Mine" },
  settings: { temperature: 0.3 },
  mcpServers: { plugboard: { type: "stdio", command: "old", args: [] } },
};

/** An agent in the working directory; `start` puts the front before it. */
function agentOf() {
  const directory = join(desk.directory, "mine");
  mkdirSync(directory);
  const [file, variables] = [join(directory, "tsagent.json"), join(directory, ".env")];
  writeFileSync(file, JSON.stringify(MINE));
  writeFileSync(variables, "KEY=of-mine");
  return {
    unchanged: () =>
      readdirSync(directory).length === 2 && JSON.stringify(MINE) === readFileSync(file, "utf8"),
    start: () =>
      desk.start({
        config: {
          agents: {
            defaults: {
              mcp: { servers: { ours: desk.configured("echo") } },
              tools: { approval: "ask" },
            },
          },
        },
        // In the agent's environment too, so that its processes can be counted.
        env: { ACP_E2E: desk.directory, TMPDIR: join(desk.directory, "home") },
        words: ["--agent-config", "tsagent", "--", process.execPath, server, "./mine"],
      }),
  };
}

const left = (): string[] =>
  readdirSync(join(desk.directory, "home")).filter((name) => name.startsWith("plugboard-agent-"));

it("each session has a process with exactly its servers and the settings of the agent, which stays as it is", async () => {
  const mine = agentOf();
  // Of a front on this machine that was killed before it was booted the last time.
  const [host, , space] = ownerName().split("-");
  const old = `plugboard-agent-${host}-00000000-${space}-${process.pid}-1.aaaaaa`;
  mkdirSync(join(desk.directory, "home", old), { recursive: true });
  const agent = await mine.start();
  const one = await agent.newSession(tmpdir(), [desk.server("one", "echo")]);
  const two = await agent.newSession(tmpdir(), [desk.server("two", "echo")]);
  expect(await agent.ask(one, "pid")).not.toBe(await agent.ask(two, "pid"));
  expect(await agent.ask(one, "key")).toBe("KEY=of-mine");
  const { mcpServers: _, ...settings } = MINE;
  expect(JSON.parse(await agent.ask(two, "settings"))).toEqual(settings);
  const servers = async (id: string) => {
    const names = (await agent.ask(id, "tools")).split(",");
    return new Set(names.flatMap((name) => /_(one|two|ours)__/.exec(name)?.[1] ?? []));
  };
  expect(await servers(one)).toEqual(new Set(["one", "ours"]));
  expect(await servers(two)).toEqual(new Set(["two", "ours"]));
  const echo = (await agent.ask(two, "tools"))
    .split(",")
    .find((name) => name.endsWith("two__echo"));
  expect(await agent.ask(two, `call ${echo} {"text":"hello"}`)).toContain("hello");
  // The agent itself never asks.
  expect(agent.questions).toHaveLength(1);
  expect(left()).toHaveLength(3);
  expect(left()).not.toContain(old);
  expect(await agent.leave()).toBe(0);
  expect(left()).toEqual([]);
  expect(mine.unchanged()).toBe(true);
});

it("an agent that is not there is refused before anything is started", async () => {
  const agent = await desk.start({
    raw: true,
    words: ["--agent-config", "tsagent", "--", process.execPath, server, "./nowhere"],
  });
  await expect(agent.initialize()).rejects.toThrow(/no agent of tsagent is named/);
  await agent.exited;
  expect(processesWith(desk.marker)).toEqual([]);
});
