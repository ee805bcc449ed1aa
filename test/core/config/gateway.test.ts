import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { gatewaySettings, loadGateway } from "../../../src/core/config/gateway.ts";
import { failure, problemLines, writeConfig } from "./files.ts";

const DEFAULTS = {
  host: "127.0.0.1",
  port: 7584,
  behindProxy: false,
  allowedHosts: [],
  allowedOrigins: [],
  limits: {
    bodyBytes: 16 * 1024 * 1024,
    bodyValues: 50_000,
    headerBytes: 32 * 1024,
    requestsPerMinute: 60_000,
    bytesPerMinute: 256 * 1024 ** 2,
    connections: 2000,
    sessions: 10_000,
    sessionServers: 200,
    people: 1000,
  },
  stopDelay: 0,
  sessionTimeout: 1_800_000,
  idleTimeout: 300_000,
  approvalWait: 300_000,
};

it("a gateway that nobody has configured has the defaults", async () => {
  expect(gatewaySettings()).toEqual(DEFAULTS);
  const { settings, agentIds } = await loadGateway(await writeConfig("{}"));
  expect(settings).toEqual(DEFAULTS);
  expect(agentIds).toEqual(["default"]);
});

it("takes every key, with paths relative to the file and the public URL without a slash at its end", async () => {
  const [issuer, other] = ["https://i.example", "https://j.example"];
  const plain = { jwksUri: "https://i.example/keys", algorithms: ["ES256"] };
  const right = { issuer, allow: ["@readOnly"], role: "viewer" };
  const quota = { callsPerDay: 5 };
  const jwt = {
    issuers: [
      { issuer, ...plain, audience: "api://plugboard" },
      { issuer: other, ...plain, audience: ["a", "b"] },
    ],
    rights: [
      { ...right, claim: "realm_access.roles", has: "x", agent: "coder", quotas: quota },
      { issuer: other, claim: "https://e.example/roles", has: ["x"], agent: ["coder", "default"] },
      { issuer: other, claim: ["a.b", "c"], has: ["x", "y"] },
    ],
  };
  const ui = { clientId: "page", issuer };
  const limits = {
    bodyBytes: 2048,
    bodyValues: 3000,
    headerBytes: 4096,
    requestsPerMinute: false,
    bytesPerMinute: 1_000_000,
    connections: 5,
    sessions: 6,
    sessionServers: 7,
    people: 8,
  };
  const gateway = {
    host: "::",
    port: 0,
    tls: { cert: "certs/a.pem", key: "~/b.pem" },
    behindProxy: true,
    publicUrl: "https://G.example/plug/",
    allowedHosts: ["g.example", "*.g.example", "localhost:8080", "[::1]:1"],
    allowedOrigins: ["https://app.example", "http://localhost:6274"],
    jwt,
    ui,
    limits,
    stopDelay: 3000,
    sessionTimeout: 4000,
    idleTimeout: 5000,
    approvalWait: 0,
  };
  const agents = { list: [{ id: "coder" }] };
  const network = { allow: ["10.0.0.0/8"], proxy: "http://127.0.0.1:1" };
  const file = await writeConfig(JSON.stringify({ gateway, agents, network }));
  expect(await loadGateway(file, { homedir: "/home/me" })).toEqual({
    settings: {
      ...gateway,
      tls: { cert: join(dirname(file), "certs/a.pem"), key: "/home/me/b.pem" },
      publicUrl: "https://g.example/plug",
      jwt: {
        issuers: [
          { issuer, ...plain, audiences: ["api://plugboard"] },
          { issuer: other, ...plain, audiences: ["a", "b"] },
        ],
        rights: [
          { ...right, claim: ["realm_access", "roles"], has: ["x"], agents: ["coder"], quota },
          {
            issuer: other,
            claim: ["https://e.example/roles"],
            has: ["x"],
            agents: ["coder", "default"],
          },
          { issuer: other, claim: ["a.b", "c"], has: ["x", "y"] },
        ],
      },
      ui: { ...ui, scopes: [] },
    },
    agentIds: ["default", "coder"],
    networkAllow: network.allow,
    networkProxy: network.proxy,
  });
});

it("refuses a wrong file with everything that is wrong", async () => {
  const file = await writeConfig("{ gateway: { port: 'x' }, agents: { list: 1 } }");
  const error = await failure(() => loadGateway(file));
  expect(problemLines(error, file)).toHaveLength(2);
});

it("every example of docs/gateway.md is valid", async () => {
  const page = await readFile(new URL("../../../docs/gateway.md", import.meta.url), "utf8");
  const examples = [...page.matchAll(/```json5\n(.*?)```/gs)].map(([, text = ""]) => text);
  expect(examples.length).toBeGreaterThan(0);
  for (const example of examples) {
    expect(await loadGateway(await writeConfig(example))).toHaveProperty("settings");
  }
});

it("lies over another file key by key, each with its own directory, and has the agents of both", async () => {
  const tls = { cert: "c.pem", key: "k.pem" };
  const base = await writeConfig(
    JSON.stringify({
      gateway: {
        port: 1234,
        tls,
        limits: { sessions: 7, connections: 8 },
        quotas: { callsPerDay: 9, callsPerMinute: 5 },
      },
      network: { allow: ["a", "b"], proxy: "http://p:1" },
      agents: { list: [{ id: "mine" }, { id: "both" }] },
    }),
  );
  const file = await writeConfig(
    JSON.stringify({
      gateway: {
        port: 4321,
        tls,
        limits: { sessions: 6 },
        quotas: { callsPerMinute: 4, agents: { both: { callsPerDay: 3 } } },
      },
      network: { allow: ["b"] },
      agents: { list: [{ id: "theirs" }, { id: "both" }] },
    }),
  );
  const here = dirname(base);
  expect(await loadGateway(file, { base })).toEqual({
    settings: {
      ...DEFAULTS,
      port: 4321,
      tls: { cert: join(here, "c.pem"), key: join(here, "k.pem") },
      limits: { ...DEFAULTS.limits, sessions: 6, connections: 8 },
      // A quota of an agent comes in place of the general one, and does not lift the rest of it.
      quotas: {
        all: { callsPerDay: 9, callsPerMinute: 4 },
        agents: { both: { callsPerDay: 3, callsPerMinute: 5 } },
      },
    },
    agentIds: ["default", "mine", "both", "theirs"],
    networkAllow: ["b"],
    networkProxy: "http://p:1",
  });
});

it.each<[string, object | false | undefined, { ca?: string } | undefined]>([
  ["postgres://u@localhost/x", undefined, undefined],
  ["postgres://u@127.0.0.1/x", undefined, undefined],
  ["postgres://u@localhost/x?host=/run/postgresql", undefined, undefined],
  ["postgres://u@db.example.com/x", undefined, {}],
  ["postgres://u@db.example.com/x", false, undefined],
  ["postgres://u@localhost/x", { ca: "ca.pem" }, { ca: "ca.pem" }],
])("what is sent to %s with tls %j is encrypted as %j says", async (url, tls, expected) => {
  const file = await writeConfig(
    JSON.stringify({ gateway: { shared: { postgres: { url, tls } } } }),
  );
  const { shared } = (await loadGateway(file)).settings;
  expect(shared).not.toHaveProperty("differing");
  const paths = expected?.ca === undefined ? expected : { ca: join(dirname(file), expected.ca) };
  expect(shared).toEqual({
    postgres: { url, ...(paths && { tls: paths }) },
    keys: [],
    maxStale: 900_000,
  });
});

it("takes an engine that is only its URL as one without a password", async () => {
  const [db, cache] = ["postgres://u@db.example.com/x", "valkeys://cache.example.com"];
  const load = async (shared: object): Promise<unknown> =>
    (await loadGateway(await writeConfig(JSON.stringify({ gateway: { shared } })))).settings.shared;
  const short = await load({ postgres: db, valkey: cache });
  expect(short).toEqual(await load({ postgres: { url: db }, valkey: { url: cache } }));
  expect(short).toMatchObject({ valkey: { url: cache, primary: "mymaster", tls: {} } });
});
