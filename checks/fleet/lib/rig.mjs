// One run of the rig: its directory, the engines, which are started with the first part that needs them, and fleets of gateways before
// the server that counts. Whatever it starts has a marker in its environment, and is gone when it closes.

import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { endAll } from "../../lib/processes.mjs";
import { BIN, freePorts, runGateway, startGateway } from "../../lib/run-gateway.mjs";
import { openLane, openSession } from "../../soak/lib/client.mjs";
import { startHaproxy, startNginx, startWrittenHaproxy } from "./balancers.mjs";
import { startPostgres, startValkey } from "./engines.mjs";
import { startProvider } from "./sign-in.mjs";
import { endPrograms, Program, run, takesConnections } from "./programs.mjs";

const HOST = "127.0.0.1";
const UPSTREAM = fileURLToPath(new URL("../upstream.mjs", import.meta.url));
const MARKER = "PLUGBOARD_FLEET";
export const KEY = "a key of the rig that is long enough";
/** Of every second lane. */
const SESSIONS = 4;
/** So many that none is refused. */
const REQUESTS_PER_MINUTE = 100_000_000;

export async function openRig() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "plugboard-fleet-")));
  const env = { PATH: process.env.PATH, HOME: root, LANG: "C", [MARKER]: root };
  let postgres;
  let valkey;
  const providers = [];
  let names = 0;
  const nextName = () => {
    names += 1;
    return String(names);
  };
  const rig = {
    root,
    env,
    postgres() {
      postgres ??= startPostgres({ root, env });
      return postgres;
    },
    valkey() {
      valkey ??= startValkey({ root, env });
      return valkey;
    },
    /** The server that counts. */
    async startUpstream() {
      const file = join(root, `executions-${nextName()}`);
      const port = await freePorts(1);
      const words = [process.execPath, UPSTREAM, String(port), file];
      const program = new Program(words, { env }, () => takesConnections(HOST, port));
      await program.start();
      return {
        program,
        url: (ms) => `http://${HOST}:${port}/mcp?ms=${ms}`,
        executions: () =>
          readFileSync(file, "utf8")
            .split("\n")
            .filter((line) => line !== "")
            .map((line) => {
              const [number, replica] = line.split(" ");
              return { number: Number(number), replica: Number(replica) };
            }),
        close: () => program.end("SIGKILL"),
      };
    },
    /** Of a server that needs a sign-in: its `url`, and what the fixture of the tests has besides. */
    async startProvider(options) {
      const provider = await startProvider(options);
      providers.push(provider);
      return provider;
    },
    /** `shared` is the block of that name. Undefined: each has files of its own. */
    startFleet: (given) => startFleet({ root, env, name: nextName(), ...given }),
    /** So many gateways of the template for systemd, behind the HAProxy that is written with it. */
    startTemplate: (given) => startTemplate({ root, env, name: nextName(), ...given }),
    startHaproxy: (fleet, options) =>
      startHaproxy({ root, env, gateways: fleet.gateways, ...options }),
    startNginx: (fleet) => startNginx({ root, env, gateways: fleet.gateways }),
    /** `gateway.shared` with both engines and a new database, which is `database`. */
    async newShared({ withValkey = true, isWatched = false, ...more } = {}) {
      const engine = await rig.postgres();
      const database = engine.newDatabase();
      const fast = withValkey ? await rig.valkey() : undefined;
      const settings = isWatched ? fast?.newWatchedSettings() : fast?.newSettings();
      const shared = {
        postgres: { url: engine.urlOf(database) },
        ...(settings && { valkey: settings }),
        keys: ["${FLEET_KEY}"],
        replica: { url: "http://${REPLICA_ADDRESS}" },
        ...more,
      };
      return { database, shared };
    },
    async close() {
      // Killed otherwise, it leaves memory and semaphores behind that belong to no process.
      const engine = await postgres?.catch(() => {});
      await engine?.program.end("SIGQUIT");
      endPrograms();
      endAll(`${MARKER}=${root}`);
      await Promise.all(providers.map((provider) => provider.close()));
      rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
  return rig;
}

/** So many gateways with one configuration, each as if on a machine of its own. */
async function startFleet({
  root,
  env,
  name,
  count,
  servers,
  rest,
  shared,
  limits,
  settings = {},
  more = () => ({}),
}) {
  const first = await freePorts(count);
  const start = (at) => {
    const home = join(root, `fleet-${name}`, String(at + 1));
    mkdirSync(home, { recursive: true });
    return runGateway({
      home,
      port: first + at,
      agent: { mcp: { servers } },
      rest,
      limits,
      settings: { behindProxy: true, ...settings, ...(shared && { shared }) },
      env: {
        ...env,
        HOME: home,
        PLUGBOARD_HOME: home,
        REPLICA: String(at),
        REPLICA_ADDRESS: `${HOST}:${first + at}`,
        FLEET_KEY: KEY,
      },
      ...more(at),
    });
  };
  return openFleet(count, start);
}

/** What `plugboard deploy systemd --gateways` writes, started without systemd: each line of the template that says what runs. */
async function startTemplate({ root, env, name, count, servers, shared }) {
  const directory = join(root, `template-${name}`);
  mkdirSync(directory, { recursive: true });
  const port = await freePorts(1);
  const limits = { requestsPerMinute: REQUESTS_PER_MINUTE };
  const { replica: _, ...engines } = shared;
  const board = { mcpServers: servers, gateway: { port, limits, shared: engines } };
  const config = join(directory, "board.json");
  writeFileSync(config, JSON.stringify(board));
  // A template is for more than one; of one, it is as good.
  const words = ["deploy", "systemd", "--gateways", String(Math.max(2, count)), "--out", directory];
  const own = { ...env, HOME: directory, PLUGBOARD_HOME: directory, PLUGBOARD_CONFIG: config };
  run(process.execPath, [BIN, ...words], { env: own });
  const unit = readFileSync(join(directory, "plugboard@.service"), "utf8");
  const haproxy = join(directory, "haproxy.cfg");
  const written = readFileSync(haproxy, "utf8");
  const ports = [...written.matchAll(/^ +server \S+ 127\.0\.0\.1:(\d+)$/gm)].map(([, each]) =>
    Number(each),
  );
  if (count === 1) writeFileSync(haproxy, written.replace(/^ +server .*\n(?![^]*server )/m, ""));
  const start = (at) => {
    const filled = unit.replaceAll("%i", String(ports[at])).replaceAll("/var/lib", directory);
    const valuesOf = (key) =>
      [...filled.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map(([, value]) => value);
    const [home] = valuesOf("WorkingDirectory");
    mkdirSync(home, { recursive: true });
    const [program] = valuesOf("ExecStart");
    return startGateway({
      home,
      port: ports[at],
      words: program
        .replace("/usr/bin/env plugboard ", "")
        .replace("/etc/plugboard", directory)
        .split(" "),
      env: {
        ...env,
        ...Object.fromEntries(valuesOf("Environment").map((each) => each.split("="))),
        HOME: home,
        REPLICA: String(at),
        PLUGBOARD_ADDRESS: HOST,
        FLEET_KEY: KEY,
      },
    });
  };
  const fleet = await openFleet(count, start);
  const front = await startWrittenHaproxy({ file: haproxy, port, env });
  return { fleet, haproxy: front };
}

/** The first one makes the tables. */
async function openFleet(count, start) {
  const gateways = [await start(0)];
  gateways.push(
    ...(await Promise.all(Array.from({ length: count - 1 }, (_, at) => start(at + 1)))),
  );
  return {
    gateways,
    token: gateways[0].token,
    /** Seconds of processor time that all of them have used. */
    cpu: () => gateways.reduce((sum, gateway) => sum + cpuOf(gateway.pid()), 0),
    /** Megabytes that each of them has in use, the largest one's. */
    memory: () => Math.max(...gateways.map((gateway) => memoryOf(gateway.pid()))),
    close: () => Promise.all(gateways.map((gateway) => gateway.kill())),
  };
}

/** The entry of the server that counts. */
export function countServer(upstream, ms, more = {}) {
  return { count: { url: upstream.url(ms), headers: { "X-Replica": "${REPLICA}" }, ...more } };
}

/** Half of them with sessions of 2025-11-25, which are made once, half without. */
export async function openLanes({ host = HOST, port, token, count, server = "count" }) {
  const sessions = [];
  for (let at = 0; at < Math.min(SESSIONS, count); at += 1) {
    sessions.push(await openSession({ host, port, token }));
  }
  const tool = `${server}__count`;
  return Array.from({ length: count }, (_, index) => {
    const session = index % 2 === 0 ? sessions[(index / 2) % sessions.length].headers : undefined;
    return openLane({ host, port, token, session, tool });
  });
}

function memoryOf(pid) {
  const [, kilobytes] =
    /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Math.round(Number(kilobytes) / 1024);
}

/** Seconds of processor time that a process has used. Linux counts hundredths. */
function cpuOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const [, user, system] =
    /^(?:\S+ ){11}(\d+) (\d+)/.exec(stat.slice(stat.lastIndexOf(")") + 2)) ?? [];
  return (Number(user) + Number(system)) / 100;
}
