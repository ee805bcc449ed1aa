import { afterEach, beforeEach, expect, test } from "vitest";
import { GatewayClient } from "../../src/openclaw/gateway-client.ts";
import { findLabel, findSession, switchOff, switchOn } from "../../src/openclaw/session-slot.ts";
import { systemClock } from "../../src/util/clock.ts";
import { type FixtureGateway, startGateway } from "../fixtures/openclaw/gateway.ts";

const KEY = "agent:main:x";
const SLOTS = ["plugboard-1", "plugboard-2"];

let gateway: FixtureGateway;
let client: GatewayClient;
/** Somebody else who changes the session before each of our patches. */
let meanwhile: () => void;

beforeEach(async () => {
  meanwhile = () => {};
  gateway = await startGateway({
    intercept: ({ method }) => {
      if (method === "sessions.patch") meanwhile();
      return undefined;
    },
  });
  client = new GatewayClient(
    { url: gateway.url, token: "secret" },
    { clock: systemClock, version: "0" },
  );
});

afterEach(async () => {
  await client.close();
  await gateway.stop();
});

test("a session is found by its short key, with what is switched for it", async () => {
  expect(await findSession(client, "x")).toBeUndefined();
  gateway.sessions.set(KEY, { toolOverrides: { webSearch: false } });
  expect(await findSession(client, "x")).toEqual({ key: KEY, overrides: { webSearch: false } });
  expect(await findLabel(client, "support inbox")).toBe("agent:main:support");
  await expect(findLabel(client, "nobody's")).rejects.toThrow("No session found with label");
});

test("what somebody else switches at the same time stays", async () => {
  meanwhile = () => {
    meanwhile = () => {};
    gateway.sessions.set(KEY, { toolOverrides: { mcpServers: { files: false } } });
  };
  expect(await switchOn(client, "x", "plugboard-1", "mark")).toBe(KEY);
  expect(gateway.sessions.get(KEY)?.toolOverrides).toEqual({
    mcpServers: { files: false, "plugboard-1": true, plugboard: false },
    mcpToolsDeny: { "plugboard-1": ["mark"] },
  });
  meanwhile = () => {
    meanwhile = () => {};
    gateway.sessions.set(KEY, {
      toolOverrides: { mcpServers: { "plugboard-1": true, plugboard: false }, webSearch: false },
    });
  };
  await switchOff(client, KEY, "plugboard-1", SLOTS);
  expect(gateway.sessions.get(KEY)?.toolOverrides).toEqual({ webSearch: false });
});

test("a session that changes all the time is given up on", async () => {
  let count = 0;
  meanwhile = () => {
    count += 1;
    gateway.sessions.set(KEY, { toolOverrides: { mcpServers: { [`s${count}`]: true } } });
  };
  await expect(switchOn(client, KEY, "plugboard-1", "mark")).rejects.toThrow(
    "changed before patch",
  );
  expect(count).toBe(4);
});

test.each<[string, object | undefined]>([
  ["a session that is gone", undefined],
  ["a session without the slot", { toolOverrides: { mcpServers: { "plugboard-2": true } } }],
])("switching off changes nothing for %s", async (_, session) => {
  if (session !== undefined) gateway.sessions.set(KEY, session);
  await switchOff(client, KEY, "plugboard-1", SLOTS);
  expect(gateway.calls.map(({ method }) => method)).not.toContain("sessions.patch");
  expect(gateway.sessions.get(KEY)).toEqual(session);
});
