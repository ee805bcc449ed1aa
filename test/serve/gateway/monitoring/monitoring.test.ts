import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { openBoard } from "../../../../src/core/board/board.ts";
import { silentLogger } from "../../../../src/core/types/logger.ts";
import type { Viewer } from "../../../../src/serve/gateway/agents.ts";
import { Monitoring } from "../../../../src/serve/gateway/monitoring/monitoring.ts";
import { systemClock } from "../../../../src/util/clock.ts";

function opened(...agentIds: string[]): Monitoring {
  return new Monitoring({
    version: "0",
    pid: 1,
    agentIds,
    clock: systemClock,
    logger: silentLogger,
  });
}

it("answers readers in turns of their callers", async () => {
  const monitoring = opened();
  monitoring.show({
    isReady: () => true,
    inFlight: () => 0,
    approvals: () => 3,
    viewerOf: async () => undefined,
  });
  const answered: string[] = [];
  const ask = async (label: string): Promise<void> => {
    const request = { method: "GET" } as IncomingMessage;
    const end = (): void => void answered.push(label);
    const reply = Object.assign(new EventEmitter(), { writeHead: () => ({ end }) });
    const admitted = { caller: { id: label, label } };
    const route = monitoring.routes.get("/api/status");
    await route?.(request, reply as unknown as ServerResponse, admitted);
  };
  await Promise.all(["greedy", "greedy", "greedy", "other"].map(ask));
  expect(answered).toEqual(["greedy", "other", "greedy", "greedy"]);
  monitoring.close();
});

it("knows the past of a server that failed before anybody listened", async () => {
  const env = { KEY: "secret://env/PLUGBOARD_TEST_NOT_SET" };
  await using board = await openBoard({ servers: { needy: { command: "never-started", env } } });
  await expect.poll(() => board.status()[0]?.state.kind).toBe("failed");
  const monitoring = opened("default");
  monitoring.watch("default", board)();
  expect(monitoring.history.of("default", "needy")).toMatchObject([
    { state: "failed", why: expect.stringContaining("PLUGBOARD_TEST_NOT_SET") },
  ]);
  monitoring.events.close();
});

it("counts the calls of each caller, those of too many together, and the calls that wait", async () => {
  const monitoring = opened();
  const shown: { viewer?: Viewer } = {};
  monitoring.show({
    isReady: () => true,
    inFlight: () => 0,
    approvals: () => 3,
    viewerOf: async () => shown.viewer,
  });
  const read = async (): Promise<string> => {
    let text = "";
    const end = (written: string): void => void (text = written);
    const reply = Object.assign(new EventEmitter(), { writeHead: () => ({ end }) });
    const request = { method: "GET" } as IncomingMessage;
    const admitted = { caller: { id: "x", label: "x" } };
    const route = monitoring.routes.get("/metrics");
    await route?.(request, reply as unknown as ServerResponse, admitted);
    return text;
  };
  const call = (label: string): void => monitoring.called({ id: `token:${label}`, label });
  for (let at = 0; at < 300; at += 1) call(`caller-${at}`);
  for (const label of ["caller-0", "caller-0", "caller-299"]) call(label);
  const all = await read();
  expect(all).toContain('plugboard_caller_calls_total{caller="caller-0"} 3\n');
  expect(all).toContain('plugboard_caller_calls_total{caller="other callers"} 101\n');
  expect(all.match(/^plugboard_caller_calls_total/gm)).toHaveLength(201);
  expect(all).toContain("plugboard_approvals_waiting 3\n");
  // Somebody who does not see everything sees nobody else.
  shown.viewer = { caller: "caller-1", id: "x", boards: new Map(), release: () => {} };
  const own = (await read()).match(/^plugboard_caller_calls_total.*$/gm);
  expect(own).toEqual(['plugboard_caller_calls_total{caller="caller-1"} 1']);
  monitoring.close();
});
