// Pins in files: one for each server definition, which several processes may change. A second, small file beside them
// says that a definition was pinned, so that pins that are gone are missed.

import { hash } from "node:crypto";
import { statSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject } from "../../types/json.ts";
import { type Logger, silentLogger } from "../../types/logger.ts";
import type { LostPins, PinnedServer, ServerPins } from "../../types/pin.ts";
import {
  type ChangePins,
  type Invalidation,
  type PinStore,
  type StoredPins,
  UNCHANGED,
} from "../../types/shared-state.ts";
import { boundedMap, READERS } from "../../../util/bounded-map.ts";
import { type Clock, systemClock } from "../../../util/clock.ts";
import { hasErrorCode } from "../../../util/error-code.ts";
import { reasonOf } from "../../../util/system-problem.ts";
import { readJsonFile, writeJsonFile } from "../json-file.ts";
import { withLock } from "../lock.ts";
import { byName, pinsFromJson, pinsToJson } from "../stored-pins.ts";

/** Holds the longest list of tools twice, with every character escaped. */
const MAX_BYTES = 256 * 1024 * 1024;

const MAX_RECORD_BYTES = 64 * 1024;

const SUFFIX = ".json";
/** How long we wait for another process to release the file. */
const PATIENCE_MS = 5000;

export interface PinFilesOptions {
  stateDir: string;
  clock?: Clock;
  logger?: Logger;
  /** Is told of every change. */
  changes?: Pick<Invalidation, "publish">;
}

export class PinFiles implements PinStore {
  readonly isPersistent = true;
  readonly #directory: string;
  /** One file for each definition that was pinned. It is not in the directory of the pins: that may be deleted whole. */
  readonly #known: string;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #changes: Pick<Invalidation, "publish"> | undefined;

  constructor({ stateDir, clock = systemClock, logger = silentLogger, changes }: PinFilesOptions) {
    this.#changes = changes;
    this.#directory = join(stateDir, "pins");
    this.#known = join(stateDir, "pinned");
    this.#clock = clock;
    this.#logger = logger;
  }

  async read(id: PinnedServer): Promise<StoredPins> {
    const name = fileName(id);
    const stored = await this.#readStored(name, id);
    if (stored.kind === "pinned" && !this.#hasRecord(name)) {
      await this.#addRecord(name, id).catch((error: unknown) =>
        this.#logger.warn("pins could not be recorded", { reason: reasonOf(error) }),
      );
    }
    return stored;
  }

  async update(id: PinnedServer, change: ChangePins): Promise<ServerPins | undefined> {
    const name = fileName(id);
    const path = join(this.#directory, name);
    let isChanged = false;
    const task = async (): Promise<ServerPins | undefined> => {
      const stored = await this.#readStored(name, id);
      const before = stored.kind === "pinned" ? stored.pins : undefined;
      const after = change(before, stored.kind === "lost" ? stored.lost : undefined);
      if (after === UNCHANGED) return before;
      if (after === undefined) {
        // In this order: pins without a record get one again, a record without pins means that they are lost.
        await rm(join(this.#known, name), { force: true });
        await rm(path, { force: true });
      } else if (after !== before) {
        await writeJsonFile(path, pinsToJson(after));
        if (before === undefined) await this.#writeRecord(name, id);
      }
      isChanged = after !== before;
      return after;
    };
    const after = await withLock(`${path}.lock`, this.#clock, task, PATIENCE_MS);
    if (isChanged) await this.#changes?.publish("pins");
    return after;
  }

  async list(): Promise<ServerPins[]> {
    const names = await jsonFiles(this.#directory);
    const pins = await boundedMap(names, READERS, (name) => readPins(join(this.#directory, name)));
    return pins.filter((each) => each !== undefined).sort(byName);
  }

  async lost(): Promise<LostPins[]> {
    const records = await boundedMap(await jsonFiles(this.#known), READERS, async (name) => {
      const id = await readJsonFile(join(this.#known, name), MAX_RECORD_BYTES);
      return isPinnedServer(id) && fileName(id) === name ? id : undefined;
    });
    const known = records.filter((each) => each !== undefined);
    const stored = await boundedMap(known, READERS, (id) => this.#readStored(fileName(id), id));
    return stored.flatMap((each) => (each.kind === "lost" ? [each.lost] : [])).sort(byName);
  }

  async #readStored(name: string, id: PinnedServer): Promise<StoredPins> {
    const stored = await this.#readOnce(name, id);
    // Another process may have written or removed them while we looked.
    return stored.kind === "lost" ? this.#readOnce(name, id) : stored;
  }

  async #readOnce(name: string, { server, key }: PinnedServer): Promise<StoredPins> {
    const file = join(this.#directory, name);
    const pins = await readPins(file);
    if (pins !== undefined) return { kind: "pinned", pins };
    const isFileThere = isThere(file);
    if (!isFileThere && !this.#hasRecord(name)) return { kind: "none" };
    const why = isFileThere ? "unreadable" : "missing";
    return { kind: "lost", lost: { server, key, file, why } };
  }

  #hasRecord(name: string): boolean {
    return isThere(join(this.#known, name));
  }

  /** A process may have ended before it wrote the record. Pins that were forgotten meanwhile must not get one. */
  async #addRecord(name: string, id: PinnedServer): Promise<void> {
    const path = join(this.#directory, name);
    const task = async (): Promise<void> => {
      if (isThere(path)) await this.#writeRecord(name, id);
    };
    await withLock(`${path}.lock`, this.#clock, task, PATIENCE_MS);
  }

  async #writeRecord(name: string, { server, key }: PinnedServer): Promise<void> {
    await writeJsonFile(join(this.#known, name), { server, key });
  }
}

async function readPins(path: string): Promise<ServerPins | undefined> {
  return pinsFromJson(await readJsonFile(path, MAX_BYTES));
}

async function jsonFiles(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => []);
  return names.filter((name) => name.endsWith(SUFFIX));
}

/** A file that cannot be looked at counts as there. Asked at once: a thread that looks takes many times as long. */
function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return !hasErrorCode(error, "ENOENT", "ENOTDIR");
  }
}

function isPinnedServer(value: unknown): value is PinnedServer {
  return (
    isJsonObject(value) && typeof value["server"] === "string" && typeof value["key"] === "string"
  );
}

function fileName({ server, key }: PinnedServer): string {
  const readable = server.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, 40);
  return `${readable}-${hash("sha256", JSON.stringify([server, key])).slice(0, 16)}${SUFFIX}`;
}
