// How many calls a caller may make through a real gateway, and what a model reads when there are no more.

import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { gatewaySettings } from "../../../src/core/config/gateway.ts";
import { parseAgentConfig } from "../../../src/core/config/parse.ts";
import type { GatewayBlock } from "../../../src/core/config/schema/gateway-schema.ts";
import { openFileState } from "../../../src/core/state/files/open.ts";
import type { CallQuota } from "../../../src/core/types/caller.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";
import { silentLogger } from "../../../src/core/types/logger.ts";
import { openGateway } from "../../../src/serve/gateway/open-gateway.ts";
import { quotasOfTokens } from "../../../src/serve/gateway/quotas.ts";
import { deferred } from "../../../src/util/deferred.ts";
import { type Clock, systemClock } from "../../../src/util/clock.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { legacy, post } from "../endpoint/harness.ts";

const DAY = 24 * 60 * 60 * 1000;

async function openRig(
  quotas: GatewayBlock["quotas"],
  stateDir = temporaryDirectory(),
  clock: Clock = systemClock,
) {
  const waiting: (() => void)[] = [];
  const agent = parseAgentConfig({ servers: {} });
  const { openBoard } = await import("../../../src/core/board/board.ts");
  const gateway = await openGateway({
    settings: gatewaySettings({ port: 0, quotas }),
    agentIds: ["default", "other"],
    readAgent: async () => agent,
    defaultAgent: "default",
    network: { allow: [], env: {} },
    configFile: join(stateDir, "board.json"),
    stateDir,
    cwd: stateDir,
    env: {},
    clock,
    logger: silentLogger,
    open: (config, options) =>
      openBoard(config, {
        ...options,
        native: [
          {
            name: "hello",
            description: "Says hello",
            parameters: { type: "object" },
            execute: async (_, { wait }) => {
              const { promise, resolve } = deferred();
              if (wait) waiting.push(resolve);
              else resolve();
              await promise;
              return { content: [{ type: "text", text: "hello" }] };
            },
          },
        ],
      }),
  });
  onTestFinished(() => gateway.close());
  const state = openFileState(stateDir);
  const url = new URL(gateway.http?.url ?? "");
  const call = async (authorization: string, args: object = {}, agentId = "default") => {
    const to = new URL(`/agents/${agentId}/mcp`, url);
    const body = legacy("tools/call", { name: "hello", arguments: args });
    const { message } = await post(to, body, { authorization });
    const result = message?.["result"] as { content: JsonObject[]; isError?: boolean } | undefined;
    return `${result?.isError ? "refused: " : ""}${String(result?.content[0]?.["text"])}`;
  };
  const token = async (name: string, quota?: CallQuota): Promise<string> => {
    const { text } = await state.tokens.add({ name, ...(quota && { policy: { quota } }) });
    return `Bearer ${text}`;
  };
  const read = async (authorization: string) => {
    const { message } = await post(url, legacy("resources/read", { uri: "a:b" }), {
      authorization,
    });
    return message?.["error"] as JsonObject;
  };
  return { call, token, read, state, waiting, gateway, stateDir, url };
}

it("a token's quota, the agent's and that of everybody: which one counts, and for whom", async () => {
  const rig = await openRig({ callsPerDay: 2, agents: { other: { callsPerDay: 1 } } });
  const [ann, bob, ci] = [
    await rig.token("ann"),
    await rig.token("bob"),
    await rig.token("ci", { callsPerDay: 1000, callsPerMinute: 1 }),
  ];
  expect([await rig.call(ann), await rig.call(ann)]).toEqual(["hello", "hello"]);
  const over =
    "refused: You have used your 2 calls for today; the count starts again at 00:00 UTC.";
  expect(await rig.call(ann)).toBe(over);
  expect(await rig.read(ann)).toMatchObject({
    message: expect.stringContaining("2 calls for today"),
    data: { code: "RATE_LIMITED" },
  });
  // Somebody else, and another agent, whose quota counts its own calls.
  expect(await rig.call(bob)).toBe("hello");
  expect(await rig.call(ann, {}, "other")).toBe("hello");
  expect(await rig.call(ann, {}, "other")).toContain("You have used your 1 call for today");
  // The token's own, for all agents.
  expect(await rig.call(ci, {}, "other")).toBe("hello");
  expect(await rig.call(ci)).toMatch(
    /^refused: You have used your 1 call for this minute; try again in \d+ s\.$/,
  );
  // The owner has none.
  const owner = `Bearer ${await rig.state.tokens.ensureDefault()}`;
  for (let at = 0; at < 4; at += 1) expect(await rig.call(owner)).toBe("hello");
  const metrics = await fetch(new URL("/metrics", rig.url), { headers: { authorization: owner } });
  expect(await metrics.text()).toMatch(/refus\w*\{[^}]*"quota"[^}]*\} 4/);
});

it("what was used today outlives a restart, is shown, and begins anew at midnight", async () => {
  const clock = { ...systemClock };
  const first = await openRig({}, temporaryDirectory(), clock);
  const ci = await first.token("ci", { callsPerDay: 3 });
  expect([await first.call(ci), await first.call(ci)]).toEqual(["hello", "hello"]);
  await first.gateway.close();
  const second = await openRig({}, first.stateDir, clock);
  const { tokens, usage } = second.state;
  const listed = (await tokens.list()).find(({ name }) => name === "ci");
  const quotas = await quotasOfTokens(listed ? [listed] : [], undefined, usage);
  const own = { quota: { callsPerDay: 3 }, isDefault: false, callsToday: 2 };
  expect(quotas).toEqual(new Map([[listed?.id, [own]]]));
  expect(await second.call(ci)).toBe("hello");
  expect(await second.call(ci)).toContain("3 calls for today");
  clock.now = () => Date.now() + DAY;
  expect(await second.call(ci)).toBe("hello");
});

it("a limit on calls at a time: a call that ends, or is refused for another reason, makes room", async () => {
  const rig = await openRig({});
  const ci = await rig.token("ci", { concurrentCalls: 1, callsPerMinute: 3 });
  const running = rig.call(ci, { wait: true });
  while (rig.waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(await rig.call(ci)).toBe(
    "refused: You may have 1 call at a time, and you have as many; wait until one has ended.",
  );
  rig.waiting[0]?.();
  expect(await running).toBe("hello");
  // Refused calls have used nothing of the minute.
  expect([await rig.call(ci), await rig.call(ci)]).toEqual(["hello", "hello"]);
  for (let at = 0; at < 3; at += 1) expect(await rig.call(ci)).toContain("3 calls for this minute");
});
