// What the holders of JWTs may do through a real gateway, and when that ends.

import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { gatewaySettings } from "../../../../src/core/config/gateway.ts";
import { parseAgentConfig } from "../../../../src/core/config/parse.ts";
import type { GatewayBlock } from "../../../../src/core/config/schema/gateway-schema.ts";
import { openFileState } from "../../../../src/core/state/files/open.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import { silentLogger } from "../../../../src/core/types/logger.ts";
import { openGateway } from "../../../../src/serve/gateway/open-gateway.ts";
import { systemClock } from "../../../../src/util/clock.ts";
import { temporaryDirectory } from "../../../support/directory.ts";
import { freePorts } from "../../../support/free-ports.ts";
import { openProvider } from "../../../support/provider.ts";
import { INITIALIZE, legacy, post } from "../../endpoint/harness.ts";

type Right = NonNullable<NonNullable<GatewayBlock["jwt"]>["rights"]>[number];

const SOON = { timeout: 20_000, interval: 20 };
const AUDIENCE = "api://plugboard";

async function openRig(...rights: Right[]) {
  const stateDir = temporaryDirectory();
  const provider = await openProvider();
  onTestFinished(() => provider.close());
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const agent = parseAgentConfig({ servers: {} });
  const { openBoard } = await import("../../../../src/core/board/board.ts");
  const issuers = [{ issuer: provider.url, algorithms: ["ES256" as const], audience: AUDIENCE }];
  const native = ["read", "write", "reboot"].map((name) => ({
    name,
    description: name,
    parameters: { type: "object" },
    ...(name === "reboot" && { ownerOnly: true }),
    execute: () => ({ content: [{ type: "text" as const, text: `did ${name}` }] }),
  }));
  const gateway = await openGateway({
    settings: gatewaySettings({ port, publicUrl: url, jwt: { issuers, rights } }),
    agentIds: ["default", "other"],
    readAgent: async () => agent,
    defaultAgent: "default",
    network: { allow: [], env: {} },
    configFile: join(stateDir, "board.json"),
    stateDir,
    cwd: stateDir,
    env: {},
    clock: systemClock,
    logger: silentLogger,
    open: (config, options) => openBoard(config, { ...options, native }),
  });
  onTestFinished(() => gateway.close());
  // As a command of its machine has it.
  const state = openFileState(stateDir);
  onTestFinished(() => state.close());
  const jwt = async (sub: string, groups: string[]): Promise<string> => {
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: provider.url, sub, groups, aud: AUDIENCE, iat: now, exp: now + 600 };
    return `Bearer ${await provider.token(claims)}`;
  };
  const send = (
    authorization: string,
    message: object,
    { agentId = "default", ...headers }: Record<string, string> = {},
  ) => post(new URL(`${url}/agents/${agentId}/mcp`), message, { authorization, ...headers });
  const call = async (
    who: string,
    name: string,
    headers?: Record<string, string>,
  ): Promise<string> => {
    const asked = legacy("tools/call", { name, arguments: {} });
    const { status, message } = await send(who, asked, headers);
    const content = message?.["result"]?.content as JsonObject[] | undefined;
    return String(content?.[0]?.["text"] ?? message?.["error"]?.message ?? status);
  };
  const tools = async (who: string, headers?: Record<string, string>): Promise<string[]> => {
    const { message } = await send(who, legacy("tools/list"), headers);
    const { tools: listed } = (message?.["result"] ?? { tools: [] }) as { tools: JsonObject[] };
    return listed.map(({ name }) => String(name));
  };
  return { url, state, jwt, send, call, tools };
}

it("a caller sees and calls what their right allows; the owner all of it", async () => {
  const rig = await openRig(
    { claim: "groups", has: "readers", allow: ["read"] },
    { claim: "groups", has: "writers" },
    { claim: "groups", has: "admins", role: "owner" },
  );
  const [reader, writer, admin] = await Promise.all(
    ["readers", "writers", "admins"].map((group) => rig.jwt(`ann of ${group}`, [group])),
  );
  expect(await rig.tools(reader ?? "")).toEqual(["read"]);
  expect(await rig.call(reader ?? "", "read")).toBe("did read");
  expect(await rig.call(reader ?? "", "write")).toMatch(/[Uu]nknown tool|no tool/);
  expect(await rig.tools(writer ?? "")).toEqual(["read", "write"]);
  expect(await rig.call(writer ?? "", "reboot")).not.toContain("did");
  expect(await rig.tools(admin ?? "")).toEqual(["read", "write", "reboot"]);
  expect(await rig.call(admin ?? "", "reboot")).toBe("did reboot");
});

it("the quota of a right counts the calls of each caller, to each agent that it names", async () => {
  const rig = await openRig(
    { claim: "groups", has: "some", agent: ["default", "other"], quotas: { callsPerDay: 1 } },
    { claim: "groups", has: "all", quotas: { callsPerDay: 2 } },
  );
  const [ann, bob, all] = [
    await rig.jwt("ann", ["some"]),
    await rig.jwt("bob", ["some"]),
    await rig.jwt("eve", ["all"]),
  ];
  const other = { agentId: "other" };
  expect(await rig.call(ann, "read")).toBe("did read");
  expect(await rig.call(ann, "read")).toContain("You have used your 1 call for today");
  expect([await rig.call(ann, "read", other), await rig.call(bob, "read")]).toEqual([
    "did read",
    "did read",
  ]);
  expect([await rig.call(all, "read"), await rig.call(all, "read", other)]).toEqual([
    "did read",
    "did read",
  ]);
  expect(await rig.call(all, "read", other)).toContain("You have used your 2 calls for today");
});

it("a session goes on with what the claims of the newest token give", async () => {
  const rig = await openRig(
    { claim: "groups", has: "writers" },
    { claim: "groups", has: "readers", allow: ["read"] },
  );
  const before = await rig.jwt("ann", ["writers", "readers"]);
  const begun = await rig.send(before, legacy("initialize", INITIALIZE));
  const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
  expect(await rig.tools(before, session)).toEqual(["read", "write"]);
  // The provider has taken a group away since.
  const after = await rig.jwt("ann", ["readers"]);
  expect(await rig.tools(after, session)).toEqual(["read"]);
  expect(await rig.call(after, "write", session)).not.toContain("did");
  expect(await rig.call(await rig.jwt("ann", []), "read", session)).toContain("gives no right");
});

it("whoever is signed out loses streams, sessions and calls at once; others and later tokens do not", async () => {
  const rig = await openRig({ claim: "groups", has: "staff" });
  const open = async (sub: string) => {
    const authorization = await rig.jwt(sub, ["staff"]);
    const begun = await rig.send(authorization, legacy("initialize", INITIALIZE));
    const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
    const headers = { authorization, ...session, accept: "text/event-stream" };
    const stopping = new AbortController();
    onTestFinished(() => stopping.abort());
    const stream = await fetch(`${rig.url}/mcp`, { headers, signal: stopping.signal });
    let isOpen = true;
    void (async () => {
      for await (const _ of stream.body ?? []);
    })()
      .catch(() => {})
      .finally(() => (isOpen = false));
    return { authorization, session, isOpen: () => isOpen };
  };
  const [ann, bob] = [await open("ann"), await open("bob")];
  const { authorization: of } = ann;
  const [, payload = ""] = of.split(".");
  const { iss } = JSON.parse(Buffer.from(payload, "base64url").toString()) as { iss: string };
  await rig.state.tokens.signOut(`jwt:${iss}#ann`);
  await vi.waitFor(() => expect(ann.isOpen()).toBe(false), SOON);
  expect(await rig.call(ann.authorization, "read", ann.session)).toContain("signed out");
  expect(bob.isOpen()).toBe(true);
  expect(await rig.call(bob.authorization, "read", bob.session)).toBe("did read");
  await rig.state.tokens.signOut();
  await vi.waitFor(() => expect(bob.isOpen()).toBe(false), SOON);
  expect(await rig.call(bob.authorization, "read")).toContain("signed out");
});
