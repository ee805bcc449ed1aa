import { describe, expect, it } from "vitest";
import {
  authStore,
  type Discovery,
  type Grant,
  grantKey,
  keyOf,
} from "../../../src/core/auth/store.ts";
import { readSignIns } from "../../../src/core/board/sign-in-state.ts";
import { parseAgentConfig } from "../../../src/core/config/parse.ts";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import { memoryGrants } from "../../../src/core/state/memory.ts";

const URL = "https://docs.example/mcp";
const NOW = 1_000_000;
const discovery: Discovery = {
  issuer: "https://id.example",
  authorizationServer: "https://id.example",
};
const token = { access_token: "access-token", token_type: "Bearer" };

interface Stored {
  grant?: Grant;
  wantedScope?: string;
  isUnknown?: boolean;
}

async function read(
  { grant, wantedScope, isUnknown }: Stored,
  server: ServerConfig = { url: URL },
): Promise<unknown> {
  const grants = memoryGrants();
  const store = authStore(grants);
  if (!isUnknown)
    await store.write("server", keyOf(URL), { discovery, ...(wantedScope && { wantedScope }) });
  if (grant !== undefined) await store.write("grant", grantKey(discovery, URL), grant);
  const { servers } = parseAgentConfig({ servers: { docs: server } });
  return readSignIns(servers, { grants, env: { HOST: "docs.example" }, clock: { now: () => NOW } });
}

describe("the sign-in of a server", () => {
  it.each<[string, Stored, object | undefined]>([
    ["that has never asked for one", { isUnknown: true }, undefined],
    ["that has asked, where there are no tokens", {}, { kind: "missing" }],
    ["without an end", { grant: { tokens: token } }, { kind: "valid" }],
    [
      "that has ended, and can be renewed",
      { grant: { tokens: { ...token, refresh_token: "again" }, expiresAt: 1 } },
      { kind: "valid" },
    ],
    [
      "that has ended for good",
      { grant: { tokens: token, expiresAt: NOW - 1 } },
      { kind: "expired", expiresAt: NOW - 1 },
    ],
    [
      "that will end",
      { grant: { tokens: token, expiresAt: NOW + 1 } },
      { kind: "ending", expiresAt: NOW + 1 },
    ],
    [
      "that lacks a scope",
      { grant: { tokens: token, scope: "read" }, wantedScope: "read write" },
      { kind: "too-narrow", wanted: "read write" },
    ],
    [
      "that has all scopes",
      { grant: { tokens: token, scope: "read write" }, wantedScope: "write" },
      { kind: "valid" },
    ],
  ])("%s", async (_, stored, state) => {
    expect(await read(stored)).toEqual(state === undefined ? [] : [{ server: "docs", ...state }]);
  });

  it.each<[string, ServerConfig, number]>([
    ["is found by an address with a variable in it", { url: "https://${HOST}/mcp" }, 1],
    ["is unknown where the variable is not set", { url: "https://${OTHER}/mcp" }, 0],
    [
      "does not matter with a key of its own",
      { url: URL, headers: { Authorization: "Bearer x" } },
      0,
    ],
    ["does not matter where it is turned off", { url: URL, oauth: false }, 0],
    ["does not matter for a program", { command: "docs" }, 0],
  ])("%s", async (_, server, count) => {
    expect(await read({ grant: { tokens: token } }, server)).toHaveLength(count);
  });
});
