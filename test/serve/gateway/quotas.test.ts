import { expect, it } from "vitest";
import type { QuotaSettings } from "../../../src/core/types/gateway-settings.ts";
import { LocalLimits } from "../../../src/core/state/local-limits.ts";
import { Quotas, type QuotasOptions } from "../../../src/serve/gateway/quotas.ts";

it("a subject whose name looks like somebody's calls to one agent does not use them up", async () => {
  const settings: QuotaSettings = {
    all: { callsPerMinute: 1 },
    agents: { dev: { callsPerMinute: 1 } },
  };
  const state = {
    limits: new LocalLimits({ monotonic: () => 0 }),
  } as unknown as QuotasOptions["state"];
  const quotas = new Quotas({ settings, state, onRefused: () => {} });
  const call = async (sub: string, agent: string): Promise<boolean> => {
    const counted = await quotas.of(agent)({ id: `jwt:https://login#${sub}`, label: sub });
    return counted !== undefined && "refused" in counted;
  };
  expect(await call("bob of dev", "other")).toBe(false);
  expect(await call("bob", "dev")).toBe(false);
  expect(await call("bob", "dev")).toBe(true);
});
