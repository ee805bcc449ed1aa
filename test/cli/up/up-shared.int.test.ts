// Two gateways on one PostgreSQL and one Valkey, and commands from a third machine: all of them see the same.

import { once } from "node:events";
import { join } from "node:path";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { FORWARD_HEADER } from "../../../src/serve/gateway/replicas/signature.ts";
import { closeAll, owned } from "../../fixtures/http/client.ts";
import { startOAuth } from "../../fixtures/oauth/oauth.ts";
import { INITIALIZE, legacy, post } from "../../serve/endpoint/harness.ts";
import { fixture } from "../../support/boards.ts";
import { type Engines, missingEngines, replicaRow, startEngines } from "../../support/engines.ts";
import { freePorts } from "../../support/free-ports.ts";
import { Sink, useScratch } from "../harness.ts";

const missing = missingEngines();
const why = missing === undefined ? "" : `, skipped: ${missing}`;

const FLEET_KEY = "k".repeat(32);

/** "Within a second", on a machine that does other things too. */
const SOON = { timeout: 20_000, interval: 50 };

describe.skipIf(missing !== undefined)(`gateways on two machines${why}`, () => {
  const scratch = useScratch();
  // Before it looks for processes that are left.
  afterEach(async () => {
    for (const stop of running.splice(0)) await stop();
    await closeAll();
  });
  let engines: Engines;
  const running: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    engines = await startEngines();
  });
  afterAll(() => engines.stop());

  const on = (machine: string): { env: Record<string, string> } => ({
    env: {
      PLUGBOARD_CONFIG: join(scratch.directory, "board.json"),
      PLUGBOARD_HOME: join(scratch.directory, machine),
      FLEET_KEY,
    },
  });
  const command = async (...argv: string[]) => scratch.run(argv, on("third"));

  async function startGateway(machine: string, port = 0, env = on(machine).env) {
    const stderr = new Sink();
    const { done, events } = scratch.start(["up", "--port", String(port)], { stderr, env });
    await stderr.until("/mcp.");
    running.push(async () => {
      events.emit("SIGTERM");
      await done;
    });
    return { stderr, url: new URL(/http:\S+\/mcp/.exec(stderr.text)?.[0] ?? "") };
  }

  it("share tokens, sessions, limits, approvals and the audit, and go on while PostgreSQL is away", async () => {
    const { postgres, valkey } = await engines.newSettings();
    const echo = {
      ...fixture("echo"),
      rateLimit: { tools: { add: 1 } },
      approval: { tools: { pid: "ask" } },
    } as const;
    scratch.configure(
      { docs: echo },
      {},
      {
        gateway: {
          shared: { postgres: postgres.url, valkey: valkey?.url, keys: ["${FLEET_KEY}"] },
        },
      },
    );
    const gateways = [await startGateway("one"), await startGateway("two")] as const;
    const [one, two] = gateways;
    const added = await command("tokens", "add", "ci", "--json");
    const { header } = JSON.parse(added.stdout);
    const headers = { authorization: header.replace("Authorization: ", "") };
    let echoes = 0;
    const call = async (at: { url: URL }, tool: string, more: object = {}): Promise<string> => {
      const args = { text: "hi", a: 1, b: 2 };
      const body = legacy("tools/call", { name: `docs__${tool}`, arguments: args });
      const { message, status } = await post(at.url, body, { ...headers, ...more });
      const said = message?.["error"]?.message ?? message?.["result"]?.content[0].text;
      if (said === "hi") echoes += 1;
      return said ?? `HTTP ${status}`;
    };
    const readiness = async (at: { url: URL }): Promise<string> => {
      const response = await fetch(new URL("/readyz", at.url));
      const [said = "", configuration] = (await response.text()).split("\n");
      expect(configuration).toMatch(/^configuration [0-9a-f]{12}$/);
      return `${response.status} ${said}`;
    };

    // Neither a file of the default token nor a gateway is on the third machine.
    expect((await command("tokens")).stderr).toContain("on each machine with a gateway");
    const short = { env: { ...on("third").env, FLEET_KEY: "short" } };
    const refused = await scratch.run(["tokens"], short);
    expect(refused.stderr).toContain("gateway.shared.keys[0] is shorter than 32 characters");

    // A token, and a session that the other gateway has begun.
    for (const each of gateways) {
      await vi.waitFor(async () => expect(await call(each, "echo")).toBe("hi"), SOON);
    }
    const [first, second] = ["one", "two"].map((machine) =>
      readFileSync(join(scratch.directory, machine, "gateway", "token"), "utf8"),
    );
    expect(second).toBe(first);
    const begun = await post(one.url, legacy("initialize", INITIALIZE), headers);
    const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
    expect(await call(two, "echo", session)).toBe("hi");
    await post(one.url, undefined, { ...headers, ...session }, "DELETE");
    await vi.waitFor(async () => expect(await call(two, "echo", session)).not.toBe("hi"), SOON);

    // One limit for both.
    expect(await call(one, "add")).toBe("3");
    expect(await call(two, "add")).toContain("too many calls");

    // A person answers on a third machine.
    const waiting = call(one, "pid");
    await one.stderr.until("plugboard approvals allow");
    const { waiting: asked } = JSON.parse((await command("approvals", "--json")).stdout);
    expect(asked).toMatchObject([{ tool: "docs/pid", label: "ci" }]);
    await command("approvals", "allow", asked[0].id);
    expect(await waiting).toMatch(/^\d+$/);

    const { findings } = JSON.parse((await command("doctor", "--json")).stdout);
    expect(findings).toContainEqual(
      expect.objectContaining({
        check: "shared-state",
        level: "ok",
        message: expect.stringMatching(
          /^PostgreSQL takes a lease .* in \d+ ms, Valkey counts calls in \d+ ms; 2 gateways use them now$/,
        ),
      }),
    );
    // They have the same file, and homes of their own; nobody has said how they reach each other.
    const checks = findings.map(({ check }: { check: string }) => check);
    expect(checks).not.toContain("shared-configuration");
    expect(checks).toContain("shared-replica-url");
    // A gateway with another key would not start.
    const otherKey = { env: { ...on("third").env, FLEET_KEY: "o".repeat(32) } };
    const examined = await scratch.run(["doctor", "--json"], otherKey);
    expect(JSON.parse(examined.stdout).findings).toContainEqual(
      expect.objectContaining({
        check: "shared-state",
        level: "broken",
        message: expect.stringContaining("cannot be opened with gateway.shared.keys"),
      }),
    );
    // Nor would one be of much use whose user may do too little.
    engines.sql(
      { postgres, keys: [], maxStale: 0 },
      `drop role if exists partly; create role partly login;
        grant select, insert, update on all tables in schema public to partly;
        grant delete on plugboard_leases to partly`,
    );
    const limited = join(scratch.directory, "limited.json");
    const board = readFileSync(on("third").env["PLUGBOARD_CONFIG"] ?? "", "utf8");
    writeFileSync(limited, board.replace("plugboard@", "partly@"));
    const { env } = on("third");
    const partly = { env: { ...env, PLUGBOARD_CONFIG: limited } };
    const { stdout: saidOfRights } = await scratch.run(["doctor", "--json"], partly);
    expect(JSON.parse(saidOfRights).findings).toContainEqual(
      expect.objectContaining({
        check: "shared-rights",
        level: "broken",
        message: expect.stringMatching(/may not: delete on plugboard_approvals, delete on /),
      }),
    );
    const status = await scratch.run(["--json"], on("one"));
    expect(JSON.parse(status.stdout).gateway.fleet).toMatchObject({
      replicas: [{ isOwn: true }, {}],
      problems: [],
    });

    // Without PostgreSQL.
    await engines.postgres.kill();
    await vi.waitFor(async () => expect(await readiness(one)).toBe("200 ready, degraded"), SOON);
    for (let at = 0; at < 20; at += 1)
      expect(await call(gateways[at % 2 ? 1 : 0], "echo")).toBe("hi");
    await one.stderr.until("PostgreSQL at");
    const failed = await command("tokens", "list");
    expect(failed.stderr).toContain("cannot be reached");
    await engines.postgres.start();
    await vi.waitFor(async () => expect(await readiness(one)).toBe("200 ready"), SOON);
    await one.stderr.until("postgres is back");

    // Every call is on record once.
    await vi.waitFor(async () => {
      const { stdout } = await command("audit", "--json", "--limit", "1000");
      const lines = stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      const echoed = lines.filter((line) => line.tool === "echo" && line.outcome === "ok");
      expect(echoed).toHaveLength(echoes);
    }, SOON);

    await command("tokens", "revoke", "ci");
    for (const each of gateways) {
      await vi.waitFor(async () => expect(await call(each, "echo")).not.toBe("hi"), SOON);
    }
  });

  it("wait, alive and not ready, for a PostgreSQL that is away when they start, and start when it is there", async () => {
    const { postgres } = await engines.newSettings();
    scratch.configure({ docs: fixture("echo") }, {}, { gateway: { shared: { postgres } } });
    const [port = 0] = await freePorts(1);
    const start = (machine: string) => {
      const stderr = new Sink();
      const { env } = on(machine);
      const { done, events } = scratch.start(["up", "--port", String(port)], { stderr, env });
      return { stderr, done, events };
    };
    const ask = async (path: string): Promise<string> => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return `${response.status} ${(await response.text()).split("\n")[0]}`;
    };
    await engines.postgres.kill();
    const one = start("one");
    running.push(async () => {
      one.events.emit("SIGTERM");
      await one.done;
    });
    await one.stderr.until("is not ready meanwhile");
    expect(await ask("/healthz")).toBe("200 ok");
    const unready = "503 not ready: the gateway waits for PostgreSQL";
    expect([await ask("/readyz"), await ask("/mcp")]).toEqual([unready, unready]);
    // Who waits can be stopped.
    one.events.emit("SIGTERM");
    expect(await one.done).toMatchObject({ code: 0 });
    expect(one.stderr.text.match(/PostgreSQL/g)).toHaveLength(1);
    expect(one.stderr.text).toContain("The gateway has stopped");

    const two = start("one");
    await two.stderr.until("is not ready meanwhile");
    await engines.postgres.start();
    await two.stderr.until("/mcp.");
    await vi.waitFor(async () => expect(await ask("/readyz")).toBe("200 ready"), SOON);
    two.events.emit("SIGTERM");
    expect(await two.done).toMatchObject({ code: 0 });
  });

  it("do not wait for a PostgreSQL that lets them in under no circumstances", async () => {
    const settings = await engines.newSettings();
    const { url } = settings.postgres;
    const hba = engines.sql(settings, "show hba_file");
    const before = readFileSync(hba, "utf8");
    onTestFinished(() => {
      writeFileSync(hba, before);
      engines.sql(settings, "select pg_reload_conf()");
    });
    engines.sql(settings, "drop role if exists locked; create role locked login password 'right'");
    writeFileSync(hba, `host all locked 127.0.0.1/32 scram-sha-256\n${before}`);
    engines.sql(settings, "select pg_reload_conf()");
    const locked = url.replace("plugboard@", "locked@");
    for (const [postgres, reason] of [
      [{ url: locked, password: "wrong" }, "password authentication failed"],
      [{ url: url.replace("plugboard@", "nobody@") }, 'role "nobody" does not exist'],
      [{ url: `${url}_gone` }, "does not exist"],
    ] as const) {
      scratch.configure({}, {}, { gateway: { shared: { postgres } } });
      const { done } = scratch.start(["up", "--port", "0"], on("one"));
      const { code, stderr } = await done;
      expect([code, stderr]).toEqual([2, expect.stringContaining(reason)]);
    }
  });

  it("are signed in to a server by a command on any machine", async () => {
    const oauth = owned(await startOAuth());
    const { postgres } = await engines.newSettings();
    scratch.configure(
      { docs: { url: oauth.url } },
      {},
      { gateway: { shared: { postgres, keys: ["${FLEET_KEY}"] } } },
    );
    const gateways = [await startGateway("one"), await startGateway("two")];
    const { done, stderr } = scratch.start(["login", "docs", "--no-browser"], on("third"));
    await stderr.until("\n  http");
    const [, address = ""] = /^ {2}(http\S+)$/mu.exec(stderr.text) ?? [];
    await oauth.approve(address, { visit: true });
    expect(await done).toMatchObject({ code: 0 });
    const token = readFileSync(join(scratch.directory, "one", "gateway", "token"), "utf8").trim();
    const body = legacy("tools/call", { name: "docs__echo", arguments: { text: "hi" } });
    for (const { url } of gateways) {
      await vi.waitFor(async () => {
        const { message } = await post(url, body, { authorization: `Bearer ${token}` });
        expect(message?.["result"]?.content[0].text).toBe("hi");
      }, SOON);
    }
    expect(oauth.count("authorization_code")).toBe(1);
  });

  it("are shown by status on any machine, which sends no token to an address that somebody has listed", async () => {
    const { postgres } = await engines.newSettings();
    const keys = ["${FLEET_KEY}"];
    const shared = { postgres, keys, replica: { url: "http://127.0.0.1:${OWN_PORT}" } };
    scratch.configure({ docs: fixture("echo") }, {}, { gateway: { shared } });
    const ports = await freePorts(2);
    const at = (machine: string, port = 9) => ({ ...on(machine).env, OWN_PORT: String(port) });
    const status = async (machine: string, ...argv: string[]) =>
      scratch.run(["status", ...argv], { env: at(machine) });

    // None runs yet: what it says of the servers is what it starts itself.
    const alone = await status("third");
    expect(alone.stdout).toMatch(/^No gateway uses the shared state now\.\n\nserver +state/);
    expect(alone.stdout).toContain("This server was started for this command.");

    const [one = 0, two = 0] = ports;
    await startGateway("one", one, at("one", one));
    await startGateway("two", two, at("two", two));
    const caught: IncomingHttpHeaders[] = [];
    let told: object = { agents: [{ servers: [null] }] };
    const stranger = createServer(({ headers, url }, reply) => {
      caught.push(headers);
      reply.end(url === "/readyz" ? "ready\n" : JSON.stringify(told));
    }).listen(0, "127.0.0.1");
    await once(stranger, "listening");
    owned({ close: async () => void stranger.close() });
    const falseUrl = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
    const list = (id: string, url: string): string =>
      engines.sql(
        { postgres, keys: [], maxStale: 0 },
        replicaRow({ keys: [FLEET_KEY] }, { id, name: `!${id}`, url }),
      );
    // Somebody with the keys whose address is another program's, and somebody without them.
    list("stranger", falseUrl);
    list("gone", "http://127.0.0.1:9");
    engines.sql(
      { postgres, keys: [], maxStale: 0 },
      replicaRow({ keys: [] }, { id: "forged", name: "!forged", url: falseUrl }),
    );

    // Its servers are still starting at first.
    await vi.waitFor(async () => {
      const { stdout, stderr } = await status("third");
      expect(stderr).toBe("");
      expect(stdout).toContain("No gateway runs on this machine.");
      expect(stdout).toMatch(
        new RegExp(`^The gateway runs at http://127.0.0.1:(${one}|${two})/mcp `, "m"),
      );
      expect(stdout).toMatch(/^docs +✓ ready +11 /m);
      expect(stdout).toMatch(/^!gone +not reached\n {4}connect ECONNREFUSED/m);
      for (const port of ports) {
        expect(stdout).toMatch(new RegExp(`^http://127.0.0.1:${port} +ready +[0-9a-f]{12}$`, "m"));
      }
      expect(stdout).toContain(
        `the gateway at ${falseUrl} did not tell its status: its answer is not`,
      );
      expect(stdout).not.toContain("started for this command");
      expect(stdout).toContain("rows of plugboard_replicas are ignored");
      expect(stdout).not.toContain("!forged");
    }, SOON);
    // What it has sent is worth nothing at another gateway.
    const [, asked = {}] = caught;
    expect(Object.keys(asked).toSorted()).toEqual(["connection", "host", FORWARD_HEADER]);
    const again = await fetch(`http://127.0.0.1:${one}/api/status`, {
      headers: { [FORWARD_HEADER]: String(asked[FORWARD_HEADER]) },
    });
    expect(again.status).toBe(403);

    const json = JSON.parse((await status("third", "--json")).stdout);
    expect(json).toMatchObject({
      gateway: { state: "serving" },
      servers: [{ name: "docs", state: { kind: "ready" } }],
      fleet: {
        replicas: [
          { name: "!gone", state: "unknown" },
          { name: "!stranger", state: "ready" },
          { state: "ready" },
          { state: "ready" },
        ],
      },
    });
    expect((await status("third", "docs")).stdout).toMatch(/^docs {2}✓ ready$/m);
    // Beside a gateway, the others are shown too.
    await vi.waitFor(async () => {
      const beside = (await status("one")).stdout;
      expect(beside).not.toContain("No gateway runs on this machine.");
      expect(beside).toContain(`The gateway runs at http://127.0.0.1:${one}/mcp`);
      expect(beside).toMatch(new RegExp(`^http://127.0.0.1:${two} +ready `, "m"));
    }, SOON);
    // Whoever does not have the key believes nothing of what is listed, and says so.
    const other = { env: { ...at("third"), FLEET_KEY: "o".repeat(32) } };
    const strange = await scratch.run(["status"], other);
    expect(strange.stdout).toMatch(
      /^rows of plugboard_replicas are ignored.*gateway\.shared\.keys/m,
    );
    expect(strange.stdout).not.toContain(`http://127.0.0.1:${two}`);
    expect(strange.stdout).toContain("This server was started for this command.");
    // What only looks like a status ends no command.
    const none = { list: [] };
    const servers = [{ name: "docs", state: { kind: "odd" } }];
    const agents = [{ id: "default", servers }];
    told = { pid: 1, since: 1, agents, clients: none, sessions: none, attached: none };
    const fooled = await status("third");
    expect(fooled.stdout).toContain(
      `the gateway at ${falseUrl} did not tell its status: its answer is`,
    );
    expect(fooled.stdout).toContain("This server was started for this command.");
  });
});
