import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { openBoard } from "../../../../src/core/board/board.ts";
import { silentLogger } from "../../../../src/core/types/logger.ts";
import { Monitoring } from "../../../../src/serve/gateway/monitoring/monitoring.ts";
import { systemClock } from "../../../../src/util/clock.ts";

it("answers readers in turns of their callers", async () => {
  const monitoring = new Monitoring({
    version: "0",
    pid: 1,
    agentIds: [],
    clock: systemClock,
    logger: silentLogger,
  });
  monitoring.show({
    isReady: () => true,
    inFlight: () => 0,
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
  const monitoring = new Monitoring({
    version: "0",
    pid: 1,
    agentIds: ["default"],
    clock: systemClock,
    logger: silentLogger,
  });
  monitoring.watch("default", board)();
  expect(monitoring.history.of("default", "needy")).toMatchObject([
    { state: "failed", why: expect.stringContaining("PLUGBOARD_TEST_NOT_SET") },
  ]);
  monitoring.events.close();
});
