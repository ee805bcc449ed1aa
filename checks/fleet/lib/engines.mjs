// PostgreSQL, and Valkey or Redis with a copy and three sentinels, as Debian's packages install them and with their usual settings:
// what is written is on the disk when they say so.

import { appendFileSync, chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePorts } from "../../lib/run-gateway.mjs";
import { find, postgresBin, Program, run, takesConnections } from "./programs.mjs";

const HOST = "127.0.0.1";
const PRIMARY = "fleet";
const SENTINELS = 3;
const REPLICATED_MS = 30_000;

/** `hosts` are further addresses of this machine at which it listens. Trusts everybody: nobody else reaches it. */
export async function startPostgres({ root, env, hosts = [] }) {
  const bin = postgresBin();
  const data = join(root, "postgres");
  mkdirSync(data);
  // Whoever else it runs as has to get there.
  chmodSync(root, 0o711);
  const owner = ownerOf(data);
  const asOwner = { ...owner, cwd: data, env };
  run(
    join(bin, "initdb"),
    ["-D", data, "-U", "plugboard", "-A", "trust", "-E", "UTF8", "--no-locale"],
    asOwner,
  );
  for (const host of hosts) {
    const network = host.replace(/\d+$/, "0/24");
    appendFileSync(join(data, "pg_hba.conf"), `host all all ${network} trust\n`);
  }
  const port = await freePorts(1);
  const addresses = [HOST, ...hosts].join(",");
  const program = new Program(
    [
      join(bin, "postgres"),
      ...`-D ${data} -k ${data} -h ${addresses} -p ${port} -c max_connections=300`.split(" "),
    ],
    asOwner,
    async () => {
      try {
        run(join(bin, "pg_isready"), ["-q", "-h", HOST, "-p", String(port)], { env });
        return true;
      } catch {
        return false;
      }
    },
  );
  await program.start();
  let databases = 0;
  const urlOf = (name, host = HOST) => `postgres://plugboard@${host}:${port}/${name}`;
  return {
    program,
    /** A database with nothing in it: its name. */
    newDatabase() {
      databases += 1;
      const name = `fleet${databases}`;
      const at = ["-h", HOST, "-p", String(port), "-U", "plugboard", name];
      run(join(bin, "createdb"), at, { env });
      return name;
    },
    urlOf,
    sql: (name, statement) =>
      run(join(bin, "psql"), [urlOf(name), "-qAtc", statement], { env }).split("\n"),
    /** As an administrator stops it: it ends what runs, and its connections. */
    stop: () => program.end("SIGINT"),
    start: () => program.start(),
  };
}

/** A primary with a copy, and those who watch them. */
export async function startValkey({ root, env, hosts = [] }) {
  const server = find("valkey-server", "redis-server");
  const cli = server.replace(/-server$/, "-cli");
  const first = await freePorts(2 + SENTINELS);
  const [primaryPort, copyPort, ...sentinelPorts] = Array.from(
    { length: 2 + SENTINELS },
    (_, n) => first + n,
  );
  const ask = (port, ...words) => run(cli, ["-h", HOST, "-p", String(port), ...words], { env });
  const startServer = async (name, port, more) => {
    const dir = join(root, name);
    mkdirSync(dir);
    const given = `--port ${port} --protected-mode no --dir ${dir}`.split(" ");
    const words = [server, ...given, "--bind", HOST, ...hosts, ...more];
    const program = new Program(words, { env }, () => takesConnections(HOST, port));
    await program.start();
    return program;
  };
  const primary = await startServer("valkey-1", primaryPort, []);
  const copyOf = ["--replicaof", HOST, String(primaryPort)];
  await startServer("valkey-2", copyPort, copyOf);
  const sentinels = [];
  for (const [at, port] of sentinelPorts.entries()) {
    const dir = join(root, `sentinel-${at + 1}`);
    mkdirSync(dir);
    const file = join(dir, "sentinel.conf");
    const lines = [
      `port ${port}`,
      `bind ${HOST} ${hosts.join(" ")}`,
      "protected-mode no",
      `dir ${dir}`,
      `sentinel monitor ${PRIMARY} ${HOST} ${primaryPort} 2`,
      `sentinel down-after-milliseconds ${PRIMARY} 1000`,
      `sentinel failover-timeout ${PRIMARY} 10000`,
    ];
    writeFileSync(file, `${lines.join("\n")}\n`);
    const program = new Program([server, file, "--sentinel"], { env }, () =>
      takesConnections(HOST, port),
    );
    await program.start();
    sentinels.push(program);
  }
  await until(REPLICATED_MS, "Valkey's copy and sentinels did not find each other", () => {
    const known = ask(sentinelPorts[0], "sentinel", "master", PRIMARY);
    return (
      /num-slaves\n1\n/.test(known) &&
      new RegExp(`num-other-sentinels\\n${SENTINELS - 1}\\n`).test(known) &&
      ask(copyPort, "info", "replication").includes("master_link_status:up")
    );
  });
  let databases = 0;
  return {
    primary,
    /** What `gateway.shared.valkey` says, each time with a database of its own. */
    newSettings() {
      databases += 1;
      return { url: `valkey://${HOST}:${primaryPort}/${databases % 16}` };
    },
    newWatchedSettings() {
      databases += 1;
      return {
        url: `valkey://${HOST}/${databases % 16}`,
        sentinels: sentinelPorts.map((port) => `${HOST}:${port}`),
        primary: PRIMARY,
      };
    },
    port: primaryPort,
    /** The port of the one that the sentinels take for the primary. */
    primaryPort: () =>
      Number(ask(sentinelPorts[0], "sentinel", "get-master-addr-by-name", PRIMARY).split("\n")[1]),
  };
}

/** `more()` is what else to say if it does not come to that. */
export async function until(ms, otherwise, isSo, more = () => "") {
  const deadline = performance.now() + ms;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`${otherwise}${more()}`);
    await delay(20);
  }
}

/** PostgreSQL does not run as root. */
function ownerOf(...directories) {
  if (process.getuid() !== 0) return {};
  const [uid, gid] = ["-u", "-g"].map((option) => Number(run("id", [option, "postgres"])));
  for (const directory of directories) chownSync(directory, uid, gid);
  return { uid, gid };
}
