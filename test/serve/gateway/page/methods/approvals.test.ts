import { expect, it } from "vitest";
import { approvalMethods } from "../../../../../src/serve/gateway/page/methods/approvals.ts";

const KEPT = { agent: "default", tool: "files/write", hash: "h", at: 1 };
const ANNA = { ...KEPT, caller: "token:t1" };
const ADA = { ...KEPT, caller: "jwt:https://idp.example/realm#ada" };
const GONE = { ...KEPT, caller: "token:t2" };

it.each([
  ["owner", { ...KEPT, config: "/of/mine/plugboard.json" }],
  ["viewer", KEPT],
] as const)("tells an %s of what is always allowed, and for whom", async (role, own) => {
  const kept = [{ ...KEPT, config: "/of/mine/plugboard.json" }, ANNA, ADA, GONE];
  const state = {
    approvals: { list: async () => kept },
    tokens: { list: async () => [{ id: "t1", name: "anna" }] },
  };
  const seen = [
    own,
    { ...ANNA, label: "anna" },
    { ...ADA, label: "ada (idp.example/realm)" },
    { ...GONE, label: "token:t2" },
  ];
  const methods = approvalMethods(state as never, {} as never);
  const visitor = { role, name: role, nonce: role, until: Infinity };
  expect(await methods["approvals/lasting"].run({}, visitor)).toEqual({ approvals: seen });
});
