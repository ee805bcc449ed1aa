import { expect, it } from "vitest";
import { approvalMethods } from "../../../../../src/serve/gateway/page/methods/approvals.ts";

const KEPT = { agent: "default", tool: "files/write", hash: "h", at: 1 };

it.each([
  ["owner", { ...KEPT, config: "/of/mine/plugboard.json" }],
  ["viewer", KEPT],
] as const)("tells an %s of what is always allowed", async (role, seen) => {
  const approvals = { list: async () => [{ ...KEPT, config: "/of/mine/plugboard.json" }] };
  const methods = approvalMethods({ approvals } as never, {} as never);
  const visitor = { role, name: role, nonce: role, until: Infinity };
  expect(await methods["approvals/lasting"].run({}, visitor)).toEqual({ approvals: [seen] });
});
