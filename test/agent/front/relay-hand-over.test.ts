// A way to hand the board over that has something to do when the agent has opened the session.

import { expect, it } from "vitest";
import type { HandOver } from "../../../src/agent/front/hand-over.ts";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";
import { deferred } from "../../../src/util/deferred.ts";
import { type MemoryAgent, type Script, settled, startFront } from "./memory-front.ts";

const prompt = (sessionId: string) => ({ sessionId, prompt: [{ type: "text", text: "hi" }] });

function withOpened(opened: (sessionId: string) => Promise<void>) {
  return (usual: HandOver): HandOver => ({
    ...usual,
    prepare: async (request) => ({ ...(await usual.prepare(request)), opened }),
  });
}

it("what the client asks for in the session waits for the hand-over, and keeps its order", async () => {
  const ready = deferred();
  const told: string[] = [];
  const handOver = withOpened((sessionId) => {
    told.push(sessionId);
    return ready.promise;
  });
  const front = await startFront({ handOver });
  const sessionId = await front.newSession();
  expect(told).toEqual([sessionId]);
  const answered = front.request("session/prompt", prompt(sessionId));
  front.send({ method: "session/cancel", params: { sessionId } });
  await settled();
  expect(front.agent().asked("session/prompt")).toEqual([]);
  ready.resolve();
  expect(await answered).toMatchObject({ result: { stopReason: "end_turn" } });
  const methods = front.agent().received.map(({ method }) => method as string);
  expect(methods.slice(-2)).toEqual(["session/prompt", "session/cancel"]);
});

it("a session whose hand-over fails has no board, and says why", async () => {
  const failure = new PlugboardError("NETWORK", "no gateway is there", { hint: "start it" });
  const front = await startFront({ handOver: withOpened(() => Promise.reject(failure)) });
  const sessionId = await front.newSession();
  const { url } = front.agent().asked("session/new")[0].params.mcpServers[0];
  const { error } = await front.request("session/prompt", prompt(sessionId));
  expect(error.message).toBe(
    "This session cannot have its servers: no gateway is there: start it. Open a new session.",
  );
  expect(front.agent().asked("session/prompt")).toEqual([]);
  await expect.poll(async () => (await fetch(url)).status).toBe(404);
});

/** The board of the first session cannot be used any more when `gone` is resolved. */
async function frontWithGone(capabilities: JsonObject, script: Script = {}) {
  const gone = deferred();
  const opened: string[] = [];
  let prepared = 0;
  const front = await startFront({
    capabilities: { mcpCapabilities: { http: true }, ...capabilities },
    script,
    handOver: (usual) => ({
      ...usual,
      prepare: async (request) => {
        prepared += 1;
        return {
          ...(await usual.prepare(request)),
          opened: async (sessionId) => void opened.push(sessionId),
          ...(prepared === 1 && { gone: gone.promise }),
        };
      },
    }),
  });
  return { front, gone, opened, prepared: () => prepared };
}

it("a board that the agent cannot use any more is closed, and opened anew with the next request", async () => {
  const { front, gone, opened, prepared } = await frontWithGone({});
  const sessionId = await front.newSession();
  const { url } = front.agent().asked("session/new")[0].params.mcpServers[0];
  gone.resolve();
  await expect.poll(async () => (await fetch(url)).status).toBe(404);
  // The agent cannot open sessions again, so it still runs, and knows the session.
  expect(await front.request("session/prompt", prompt(sessionId))).toHaveProperty("result");
  expect(prepared()).toBe(2);
  expect(opened).toEqual([sessionId, sessionId]);
  expect(front.agents).toHaveLength(1);
});

it("an agent that opens sessions again ends with such a board, and another process has the next request", async () => {
  const lost = new Set<MemoryAgent>();
  const { front, gone } = await frontWithGone(
    { loadSession: true },
    {
      "session/prompt": (_, agent) =>
        lost.has(agent) ? new Error("gateway not connected") : { stopReason: "end_turn" },
    },
  );
  const sessionId = await front.newSession();
  const other = await front.newSession();
  lost.add(front.agent());
  gone.resolve();
  await expect.poll(() => front.agent().isStopped).toBe(true);
  expect(await front.request("session/prompt", prompt(sessionId))).toHaveProperty("result");
  expect(front.agents).toHaveLength(2);
  // The board of the other one can be used, so it goes on with the process that is there now.
  expect(await front.request("session/prompt", prompt(other))).toHaveProperty("result");
  expect(front.agents).toHaveLength(2);
  expect(front.agent().asked("session/load")).toHaveLength(2);
});
