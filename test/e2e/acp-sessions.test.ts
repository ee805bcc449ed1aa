// Many sessions at once: what is shared runs once, what is private runs once per session and ends with it.

import { methods } from "@agentclientprotocol/sdk";
import { expect, it } from "vitest";
import { eventually, isAlive, processesWith } from "../support/processes.ts";
import { useAgents } from "./acp-agent.ts";

const desk = useAgents();
const SESSIONS = 20;
const SHARED = 10;
const servers = (): number[] => processesWith(desk.marker);
const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

it("20 sessions share 10 servers, and 20 private ones end with their sessions", async () => {
  const shared = Object.fromEntries(range(SHARED).map((n) => [`s${n}`, desk.configured("echo")]));
  const agent = await desk.start({
    config: { agents: { defaults: { mcp: { servers: shared } } } },
  });

  const plain = await Promise.all(range(SESSIONS).map(() => agent.newSession(desk.directory)));
  expect(new Set(plain).size).toBe(SESSIONS);
  await Promise.all(
    plain.map(async (sessionId, n) => {
      await agent.prompt(sessionId, `/call s${n % SHARED}/echo {"text": "answer ${n}"}`);
      expect(agent.result(sessionId)).toBe(`answer ${n}`);
    }),
  );
  const sharedPids = servers();
  expect(sharedPids).toHaveLength(SHARED);
  const pids = await Promise.all(
    plain.map(async (sessionId, n) => {
      await agent.prompt(sessionId, `/call s${n % SHARED}/pid`);
      return agent.result(sessionId);
    }),
  );
  expect(new Set(pids)).toEqual(new Set(sharedPids.map(String)));
  range(SHARED).forEach((n) => expect(pids[n]).toBe(pids[n + SHARED]));

  const own = await Promise.all(
    range(SESSIONS).map((n) =>
      agent.newSession(desk.directory, [
        desk.server("mine", "echo", [], { WHOSE: `session ${n}` }),
      ]),
    ),
  );
  const private_ = await Promise.all(
    own.map(async (sessionId, n) => {
      await agent.prompt(sessionId, "/call mine/env");
      const env = JSON.parse(agent.result(sessionId)) as Record<string, string>;
      expect(env["WHOSE"]).toBe(`session ${n}`);
      await agent.prompt(sessionId, "/call mine/pid");
      return Number(agent.result(sessionId));
    }),
  );
  expect(new Set(private_).size).toBe(SESSIONS);
  expect(new Set(servers())).toEqual(new Set([...sharedPids, ...private_]));

  const close = (sessionId: string) =>
    agent.agent.request(methods.agent.session.close, { sessionId });
  await Promise.all(own.map(close));
  await eventually(() => !private_.some(isAlive));
  expect(servers()).toEqual(sharedPids);
  expect(await agent.ask(plain[0] ?? "", '/call s3/echo {"text": "still here"}')).toBe("Done.");

  expect(await agent.leave()).toBe(0);
  expect(servers()).toEqual([]);
});
