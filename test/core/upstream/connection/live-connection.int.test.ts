import { afterEach, describe, expect, it } from "vitest";
import type { Connection } from "../../../../src/core/types/connection.ts";
import { silentLogger } from "../../../../src/core/types/logger.ts";
import { createConnector } from "../../../../src/core/upstream/connect.ts";
import { systemClock } from "../../../../src/util/clock.ts";
import { fixture } from "../../../support/boards.ts";
import { definition } from "../../../support/definition.ts";
import { expectNoProcesses } from "../../../support/processes.ts";

let connection: Connection | undefined;

afterEach(async () => {
  await connection?.close();
  expectNoProcesses();
});

async function connect(server: string, ...options: string[]): Promise<Connection> {
  const { command = "", args = [] } = fixture(server, ...options);
  const target = { kind: "stdio" as const, command, args, env: {} };
  const open = createConnector({
    definition: definition({ name: server, target }),
    timeout: () => 30_000,
    resolve: async () => ({ target }),
    cwd: process.cwd(),
    env: process.env,
    networkAllow: [],
    networkEnv: {},
    clock: systemClock,
    logger: silentLogger,
  });
  connection = await open(new AbortController().signal, () => {});
  return connection;
}

describe("a connection", () => {
  it("tells who it is connected to", async () => {
    const { identity, pid } = await connect("echo", "--name=parrot", "--version-reply=2025-06-18");
    expect(identity).toMatchObject({
      era: "legacy",
      name: "parrot",
      protocolVersion: "2025-06-18",
    });
    expect(pid).toBeGreaterThan(0);
  });

  it("is pinged if the protocol has a ping", async () => {
    expect(await (await connect("echo")).ping(5000)).toBeGreaterThan(0);
    await connection?.close();
    expect(await (await connect("modern-only")).ping(5000)).toBeUndefined();
  });

  it("gives up on a ping that is not answered, and lives on", async () => {
    const silent = await connect("not-reading");
    await expect(silent.ping(100)).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  it("closes once, whoever asks, without a reason", async () => {
    const open = await connect("echo");
    await Promise.all([open.close(), open.close()]);
    expect(await open.closed).toBeUndefined();
    await expect(open.ping(100)).rejects.toMatchObject({ code: "CONNECTION_CLOSED" });
  });

  it("ends with a reason when the server dies", async () => {
    const open = await connect("echo");
    process.kill(open.pid ?? 0, "SIGKILL");
    expect(await open.closed).toMatchObject({
      code: "CONNECTION_CLOSED",
      message: "the server was ended by SIGKILL",
    });
  });
});
