import { expect, it } from "vitest";
import { gatewayAddress } from "../../src/openclaw/gateway-address.ts";

interface Case {
  what: string;
  gateway?: object;
  env?: Record<string, string>;
  given?: { url?: string; token?: string };
  expected: { url: string; token?: string; password?: string };
  isRemote?: true;
}

const LOCAL = "ws://127.0.0.1:18789";

it.each<Case>([
  { what: "where nothing is said", expected: { url: LOCAL } },
  {
    what: "by the configuration, before the environment",
    gateway: { port: 19_001, auth: { token: "mine" } },
    env: { OPENCLAW_GATEWAY_TOKEN: "other" },
    expected: { url: "ws://127.0.0.1:19001", token: "mine" },
  },
  {
    what: "by the environment, where the configuration has no secret",
    gateway: { port: 19_001 },
    env: { OPENCLAW_GATEWAY_PORT: "19002", OPENCLAW_GATEWAY_PASSWORD: "word" },
    expected: { url: "ws://127.0.0.1:19002", password: "word" },
  },
  {
    what: "with variables in the configuration",
    gateway: {
      auth: { token: "${CLAW}-1", password: { source: "env", provider: "default", id: "WORD" } },
    },
    env: { CLAW: "abc", WORD: "word" },
    expected: { url: LOCAL, token: "abc-1", password: "word" },
  },
  {
    what: "without a secret that only OpenClaw can resolve",
    gateway: { auth: { token: "${CLAW}", password: { source: "exec", id: "x" } } },
    expected: { url: LOCAL },
  },
  {
    what: "with TLS",
    gateway: { tls: { enabled: true } },
    expected: { url: "wss://127.0.0.1:18789" },
  },
  {
    what: "on another machine",
    gateway: {
      mode: "remote",
      remote: { url: "wss://claw.example:443", token: "far" },
      auth: { token: "near" },
    },
    expected: { url: "wss://claw.example:443", token: "far" },
    isRemote: true,
  },
  {
    what: "through a tunnel",
    gateway: { mode: "remote", remote: { url: "ws://127.0.0.1:9", token: "far" } },
    expected: { url: "ws://127.0.0.1:9", token: "far" },
    isRemote: true,
  },
  {
    what: "at an address from the environment, which gets no secret of the configuration",
    gateway: { auth: { token: "mine" } },
    env: { OPENCLAW_GATEWAY_URL: "ws://other.example", OPENCLAW_GATEWAY_TOKEN: "its" },
    expected: { url: "ws://other.example", token: "its" },
    isRemote: true,
  },
  {
    what: "at an address that is given, which gets no secret but the given one",
    gateway: { auth: { token: "mine" } },
    env: { OPENCLAW_GATEWAY_TOKEN: "its" },
    given: { url: "ws://127.0.0.1:5", token: "given" },
    expected: { url: "ws://127.0.0.1:5", token: "given" },
  },
  {
    what: "with an invalid port, which is ignored",
    gateway: { port: "x" },
    expected: { url: LOCAL },
  },
])("OpenClaw's gateway is found $what", ({ gateway = {}, env = {}, given, expected, isRemote }) => {
  expect(gatewayAddress({ gateway }, env, given)).toEqual({
    address: expected,
    isRemote: isRemote === true,
  });
});
