// A PostgreSQL and a Valkey or Redis for the tests, as Debian's packages install them: started in a temporary directory, on free
// ports of this machine, and gone with it.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import { type EngineStateOptions, openEngineState } from "../../src/core/state/engines/open.ts";
import type { SharedSettings } from "../../src/core/types/gateway-settings.ts";
import { SealedValues } from "../../src/core/state/engines/sealed-values.ts";
import type { Replica, SharedState } from "../../src/core/types/shared-state.ts";
import { temporaryDirectory } from "./directory.ts";
import { freePorts } from "./free-ports.ts";

/** Where Debian keeps the programs of PostgreSQL. */
const POSTGRES = "/usr/lib/postgresql";
const READY_MS = 30_000;

interface Engine {
  readonly port: number;
  /** Stops answering, as a machine does that hangs. */
  freeze(): void;
  thaw(): void;
  kill(): Promise<void>;
  /** With what it had stored. */
  start(): Promise<void>;
}

export interface Engines {
  postgres: Engine;
  valkey: Engine;
  /** A new database with nothing in it. */
  newSettings(): Promise<SharedSettings>;
  /** What one of these databases answers to its owner. */
  sql(settings: SharedSettings, statement: string): string;
  /** A connection to one of these databases, for statements that belong together. It ends with the test. */
  connect(settings: SharedSettings): Promise<Connection>;
  /** What Valkey answers to a command. */
  valkeyCommand(settings: SharedSettings, ...words: string[]): string;
  stop(): Promise<void>;
}

/** The package has no types. */
interface Connection {
  connect(): Promise<void>;
  query(text: string): Promise<unknown>;
  end(): Promise<void>;
}

const DRIVER = "pg";

/** A suite that has engines of its own; skipped by name where they cannot be had. */
export function describeWithEngines(title: string, suite: (engines: () => Engines) => void): void {
  const missing = missingEngines();
  const why = missing === undefined ? "" : `, skipped: ${missing}`;
  describe.skipIf(missing !== undefined)(`${title}${why}`, () => {
    let engines: Engines;
    beforeAll(async () => {
      engines = await startEngines();
    });
    afterAll(() => engines.stop());
    suite(() => engines);
  });
}

/** One of the gateways on these engines. It closes with the test. */
export async function openReplica(
  settings: SharedSettings,
  given: Partial<EngineStateOptions> = {},
): Promise<SharedState> {
  const stateDir = given.stateDir ?? temporaryDirectory();
  const state = await openEngineState({ settings, isReplica: true, ...given, stateDir });
  onTestFinished(() => state.close());
  return state;
}

/** A row of plugboard_replicas as a gateway writes it that has these keys, good for over a minute. */
export function replicaRow(
  { keys }: Pick<SharedSettings, "keys">,
  { id, ...said }: Replica,
  at = Date.now() + 50_000,
): string {
  const sealed = new SealedValues(keys, randomBytes).seal(
    JSON.stringify({ ...said, at }),
    `replica ${id}`,
  );
  return `insert into plugboard_replicas (id, sealed, seen) values ($x$${id}$x$, $x$${sealed}$x$, now() + interval '1 minute');`;
}

/** Why tests cannot have them here; undefined if they can. */
export function missingEngines(): string | undefined {
  if (postgresBin() === undefined) return "PostgreSQL is not installed";
  return valkeyProgram() === undefined ? "neither Valkey nor Redis is installed" : undefined;
}

export async function startEngines(): Promise<Engines> {
  const [bin, valkeyServer] = [postgresBin(), valkeyProgram()];
  if (bin === undefined || valkeyServer === undefined) throw new Error(missingEngines());
  const directory = mkdtempSync(join(tmpdir(), "plugboard-engines-"));
  const data = join(directory, "postgres");
  mkdirSync(data);
  const owner = ownerOf(directory, data);
  const initdb = ["-D", data, "-U", "plugboard", "-A", "trust", "--no-sync", "-E", "UTF8"];
  execFileSync(join(bin, "initdb"), initdb, { ...owner, cwd: data, stdio: "ignore" });
  const [postgresPort = 0, valkeyPort = 0] = await freePorts(2);
  const isReady = ["-q", "-h", "127.0.0.1", "-p", String(postgresPort)];
  const postgres = new Program(postgresPort, [join(bin, "pg_isready"), ...isReady], () =>
    spawn(
      join(bin, "postgres"),
      ["-D", data, "-k", data, "-h", "127.0.0.1", "-p", String(postgresPort)].concat(
        // The tests do not crash the machine.
        ["-c", "fsync=off", "-c", "max_connections=200"],
      ),
      { ...owner, cwd: data, stdio: "ignore" },
    ),
  );
  const ping = [cliOf(valkeyServer), "-e", "-p", String(valkeyPort), "ping"];
  const valkey = new Program(valkeyPort, ping, () =>
    spawn(
      valkeyServer,
      ["--port", String(valkeyPort), "--bind", "127.0.0.1", "--save", "", "--dir", directory],
      { stdio: "ignore" },
    ),
  );
  await Promise.all([postgres.start(), valkey.start()]);
  const at = `127.0.0.1:${postgresPort}`;
  let databases = 0;
  return {
    postgres,
    valkey,
    async newSettings() {
      databases += 1;
      const name = `test${databases}`;
      const create = ["-h", "127.0.0.1", "-p", String(postgresPort), "-U", "plugboard", name];
      execFileSync(join(bin, "createdb"), create, { stdio: "ignore" });
      return {
        postgres: { url: `postgres://plugboard@${at}/${name}` },
        valkey: { url: `valkey://127.0.0.1:${valkeyPort}/${databases % 16}` },
        keys: ["a key for tests that is long enough"],
        maxStale: 15 * 60_000,
      };
    },
    sql: ({ postgres: { url } }, statement) =>
      execFileSync(join(bin, "psql"), [url, "-qAtc", statement], {
        encoding: "utf8",
        stdio: "pipe",
      }).trim(),
    async connect({ postgres: { url } }) {
      const driver: unknown = await import(DRIVER);
      const { Client } = (driver as { default: { Client: new (url: string) => Connection } })
        .default;
      const client = new Client(url);
      await client.connect();
      onTestFinished(() => client.end());
      return client;
    },
    valkeyCommand: (settings, ...words) => {
      const database = settings.valkey?.url.split("/").at(-1) ?? "0";
      const to = ["-e", "-p", String(valkeyPort), "-n", database];
      return execFileSync(cliOf(valkeyServer), [...to, ...words], { encoding: "utf8" }).trim();
    },
    async stop() {
      await Promise.all([postgres.kill(), valkey.kill()]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

class Program implements Engine {
  readonly port: number;
  readonly #isReady: readonly string[];
  readonly #spawn: () => ChildProcess;
  #child: ChildProcess | undefined;

  /** `isReady` is a command that succeeds once it answers. */
  constructor(port: number, isReady: readonly string[], start: () => ChildProcess) {
    this.port = port;
    this.#isReady = isReady;
    this.#spawn = start;
  }

  async start(): Promise<void> {
    this.#child = this.#spawn();
    const deadline = Date.now() + READY_MS;
    while (!(await succeeds(this.#isReady))) {
      if (Date.now() > deadline || this.#child.exitCode !== null) {
        throw new Error(`the engine at port ${this.port} did not start`);
      }
      // It needs the processor more than a program that asks whether it is ready.
      await sleep(25);
    }
  }

  /** PostgreSQL's other processes are of its group. */
  freeze(): void {
    this.#signal("SIGSTOP");
  }

  thaw(): void {
    this.#signal("SIGCONT");
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    // PostgreSQL takes it for "now, without finishing anything", and ends its other processes.
    child.kill("SIGCONT");
    child.kill("SIGQUIT");
    if (!child.spawnfile.endsWith("postgres")) child.kill("SIGKILL");
    await gone;
  }

  #signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }
}

/** PostgreSQL does not run as root. */
function ownerOf(...directories: readonly string[]): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = ["-u", "-g"].map((option) =>
    Number(execFileSync("id", [option, "postgres"], { encoding: "utf8" })),
  );
  if (uid === undefined || gid === undefined) return {};
  for (const directory of directories) chownSync(directory, uid, gid);
  return { uid, gid };
}

function postgresBin(): string | undefined {
  const versions = existsSync(POSTGRES) ? readdirSync(POSTGRES).toSorted().toReversed() : [];
  const directories = [
    ...versions.map((version) => join(POSTGRES, version, "bin")),
    ...(process.env["PATH"] ?? "").split(delimiter),
  ];
  return directories.find((each) =>
    ["initdb", "postgres", "createdb", "psql", "pg_isready"].every((name) =>
      existsSync(join(each, name)),
    ),
  );
}

function valkeyProgram(): string | undefined {
  const directories = (process.env["PATH"] ?? "").split(delimiter);
  return ["valkey-server", "redis-server"]
    .flatMap((name) => directories.map((each) => join(each, name)))
    .find((path) => existsSync(path));
}

function cliOf(server: string): string {
  return server.replace(/-server$/, "-cli");
}

async function succeeds([command = "", ...args]: readonly string[]): Promise<boolean> {
  const child = spawn(command, args, { stdio: "ignore" });
  const [code] = await once(child, "exit");
  return code === 0;
}
