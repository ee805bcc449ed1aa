// `plugboard acp --openclaw`: an editor, the front, OpenClaw's ACP side and its gateway, and kill -9 of each.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { methods } from "@agentclientprotocol/sdk";
import { expect, it } from "vitest";
import { readSlotRecord, slotUrl, writeSlots } from "../../src/openclaw/slots.ts";
import { startGateway } from "../fixtures/openclaw/gateway.ts";
import { freePorts } from "../support/free-ports.ts";
import { eventually, processesWith } from "../support/processes.ts";
import { useAgents } from "./acp-agent.ts";

const desk = useAgents();
const { session } = methods.agent;
const openclaw = fileURLToPath(new URL("../fixtures/openclaw/acp.mjs", import.meta.url));

it("each session has its own tools, also after a front was killed", async () => {
  const home = join(desk.directory, "home");
  const slots = (await freePorts(2)).map((port, index) => ({
    name: `plugboard-${index + 1}`,
    port,
    token: `token-${index}`,
  }));
  await writeSlots(home, { version: 1, basePort: 1, slots });
  const servers = Object.fromEntries(
    slots.map((slot) => [slot.name, { url: slotUrl(slot), token: slot.token, enabled: false }]),
  );
  let gateway = await startGateway({ servers });
  try {
    const { url, port, sessions } = gateway;
    /** Which slots a session has switched on, by their records. */
    const on = async (): Promise<(boolean | undefined)[]> =>
      (await Promise.all(slots.map((slot) => readSlotRecord(home, slot)))).map(
        (each) => each?.isOn,
      );
    const switched = (id: string): unknown =>
      sessions.get(`agent:main:acp-bridge:${id}`)?.toolOverrides;
    const start = () =>
      desk.start({
        env: { ACP_E2E: desk.directory, OPENCLAW_GATEWAY_TOKEN: "secret" },
        words: ["--openclaw", url, "--", process.execPath, openclaw],
      });
    const cwd = desk.directory;

    const first = await start();
    // One after the other, so that the first has the first slot, which the next front takes over.
    const one = await first.newSession(cwd, [desk.server("one", "echo")]);
    const two = await first.newSession(cwd, [desk.server("two", "echo")]);
    /** Which of the servers' `echo` tools the model of a turn would see. */
    const namesOf = async (front: typeof first, id: string): Promise<(string | undefined)[]> => {
      const tools = await front.ask(id, "tools");
      return [...tools.matchAll(/(one|two|three)__echo\b/g)].map(([, name]) => name);
    };
    expect(await namesOf(first, one)).toEqual(["one"]);
    expect(await namesOf(first, two)).toEqual(["two"]);
    await expect(first.newSession(cwd)).rejects.toThrow(
      "all 2 slots of OpenClaw are in use, one for each open session",
    );

    expect((await first.failure(one, "kill")).message).toContain("was ended by SIGKILL");
    expect(await namesOf(first, one)).toEqual(["one"]);
    expect(await namesOf(first, two)).toEqual(["two"]);

    await gateway.stop();
    await expect(first.newSession(cwd)).rejects.toThrow(`no gateway of OpenClaw is at ${url}`);
    gateway = await startGateway({ servers, port, sessions });
    expect(await namesOf(first, one)).toEqual(["one"]);
    await first.agent.request(session.close, { sessionId: two });
    await eventually(() => switched(two) === undefined);
    await expect.poll(on).toEqual([true, false]);

    first.process.kill("SIGKILL");
    await first.exited;
    await eventually(() => processesWith(desk.marker).length === 0);
    expect(switched(one)).toBeDefined();

    const second = await start();
    const three = await second.newSession(cwd, [desk.server("three", "echo")]);
    expect(switched(one)).toBeUndefined();
    expect(await namesOf(second, three)).toEqual(["three"]);
    const mcpServers = [desk.server("two", "echo")];
    await second.agent.request(session.resume, { sessionId: one, cwd, mcpServers });
    expect(await namesOf(second, one)).toEqual(["two"]);
    expect(await second.leave()).toBe(0);
    expect([switched(one), switched(three)]).toEqual([undefined, undefined]);
    expect(await on()).toEqual([false, false]);
  } finally {
    await gateway.stop();
  }
});

it("without a gateway the editor's first request gets the reason", async () => {
  const [port] = await freePorts(1);
  const words = ["--openclaw", `ws://127.0.0.1:${port}`];
  const front = await desk.start({ words, raw: true });
  await expect(front.initialize()).rejects.toThrow("start it with 'openclaw gateway run'");
  expect((await front.exited)[0]).toBe(3);
});
