import { createRequire } from "node:module";
import { expect, it } from "vitest";
import { type GatewayNumbers, Metrics } from "../../../../src/serve/gateway/monitoring/metrics.ts";
import { Tally } from "../../../../src/serve/gateway/monitoring/tally.ts";

const NUMBERS: GatewayNumbers = {
  version: "1.2.3",
  startedAt: 0,
  servers: [],
  sessions: 0,
  clients: 0,
  attached: 0,
  inFlight: 0,
  connections: 0,
  bytesIn: 0,
  bytesOut: 0,
  responses: [],
  refusals: new Map(),
  approvals: 0,
  callers: new Map(),
};

it("what cannot be loaded for a moment, because too many files are open, is loaded by the next request", async () => {
  let isTooMany = true;
  const metrics = new Metrics(
    new Tally(),
    () => NUMBERS,
    () => {
      if (isTooMany) throw Object.assign(new Error("too many open files"), { code: "EMFILE" });
      return createRequire(import.meta.url)("prom-client") as typeof import("prom-client");
    },
  );
  await expect(metrics.text()).rejects.toThrow("too many open files");
  isTooMany = false;
  expect((await metrics.text()).text).toContain('plugboard_info{version="1.2.3"} 1');
});
