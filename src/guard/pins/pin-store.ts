// Where pins are kept: a file per server definition that several processes may change, or memory alone.

import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Logger, silentLogger } from "../../model/logger.ts";
import { readJsonFile, writeJsonFile } from "../../state/json-file.ts";
import { withLock } from "../../state/lock.ts";
import { type Clock, systemClock } from "../../util/clock.ts";
import { textHash } from "./hash.ts";
import { fromFile, toFile } from "./pin-file.ts";
import type { PinnedServer, ServerPins } from "./pin.ts";

/** Twice the longest list of tools there can be, with every character of it escaped. */
const MAX_BYTES = 256 * 1024 * 1024;

const SUFFIX = ".json";
/** A board that closes waits for what it has to save. */
const PATIENCE_MS = 5000;

/** Undefined takes the pins away; the same object leaves them as they are. */
export type ChangePins = (pins: ServerPins | undefined) => ServerPins | undefined;

export interface PinStoreOptions {
  /** Without it pins live as long as the store. */
  stateDir?: string;
  clock?: Clock;
  logger?: Logger;
}

export class PinStore {
  readonly #directory: string | undefined;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #memory = new Map<string, ServerPins>();

  constructor({ stateDir, clock = systemClock, logger = silentLogger }: PinStoreOptions = {}) {
    this.#directory = stateDir === undefined ? undefined : join(stateDir, "pins");
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Others can change the pins, and they outlive this process. */
  get isPersistent(): boolean {
    return this.#directory !== undefined;
  }

  async read(id: PinnedServer): Promise<ServerPins | undefined> {
    if (this.#directory === undefined) return this.#memory.get(fileName(id));
    return this.#readFile(join(this.#directory, fileName(id)));
  }

  /** Changes what is there by then. Resolves to what is there afterwards; rejects where it cannot be written. */
  async update(id: PinnedServer, change: ChangePins): Promise<ServerPins | undefined> {
    if (this.#directory === undefined) return this.#updateMemory(fileName(id), change);
    const path = join(this.#directory, fileName(id));
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const task = async (): Promise<ServerPins | undefined> => {
      const before = await this.#readFile(path);
      const after = change(before);
      if (after === undefined) await rm(path, { force: true });
      else if (after !== before) await writeJsonFile(path, toFile(after));
      return after;
    };
    return withLock(`${path}.lock`, this.#clock, task, PATIENCE_MS);
  }

  /** By name; several definitions of one name one after the other. */
  async list(): Promise<ServerPins[]> {
    const all = this.#directory === undefined ? [...this.#memory.values()] : await this.#readAll();
    return all.sort((a, b) => compareText(a.server, b.server) || compareText(a.key, b.key));
  }

  #updateMemory(name: string, change: ChangePins): ServerPins | undefined {
    const after = change(this.#memory.get(name));
    if (after === undefined) this.#memory.delete(name);
    else this.#memory.set(name, after);
    return after;
  }

  async #readAll(): Promise<ServerPins[]> {
    const directory = this.#directory ?? "";
    const names = await readdir(directory).catch(() => []);
    const files = names.filter((name) => name.endsWith(SUFFIX));
    const pins = await Promise.all(files.map((name) => this.#readFile(join(directory, name))));
    return pins.filter((each) => each !== undefined);
  }

  async #readFile(path: string): Promise<ServerPins | undefined> {
    const pins = fromFile(await readJsonFile(path, MAX_BYTES));
    if (pins !== undefined) return pins;
    const isThere = await stat(path).then(
      () => true,
      () => false,
    );
    if (isThere) {
      // Taken for a first sight, which is trusted: nobody should learn of that by accident.
      this.#logger.warn("pins cannot be read; what the server offers now is pinned anew", {
        file: path,
      });
    }
    return undefined;
  }
}

function fileName({ server, key }: PinnedServer): string {
  const readable = server.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, 40);
  return `${readable}-${textHash(JSON.stringify([server, key])).slice(0, 16)}${SUFFIX}`;
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
