// The keys that seal sessions, in a file that every gateway with this state directory shares.

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject, tryParseJson } from "../../types/json.ts";
import type { SealKey } from "../../types/key-ring.ts";
import type { SealKeyRing, SealKeysOptions } from "../../types/shared-state.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import { writeJsonFile } from "../json-file.ts";
import { withLock } from "../lock.ts";
import {
  isKeyDue,
  keysFromJson,
  keyToJson,
  LOOK_FOR_DUE_KEY,
  type StoredKeys,
  withNewKey,
} from "../stored-seal-key.ts";

const FORMAT = 1;
const MAX_BYTES = 64 * 1024;

/** A client can send any key id: the file is read at most this often because of one that is unknown. */
const LEAST_BETWEEN_READS = 1000;

export interface SealKeyFileOptions extends SealKeysOptions {
  stateDir: string;
  clock: Clock;
  random: (bytes: number) => Buffer;
}

export class SealKeyFile implements SealKeyRing {
  readonly #options: SealKeyFileOptions;
  readonly #file: string;
  /** Newest first. */
  #keys: StoredKeys;
  #lastRead: number;
  #timer: Timer | undefined;

  private constructor(options: SealKeyFileOptions, keys: StoredKeys) {
    this.#options = options;
    this.#file = sealKeysFile(options.stateDir);
    this.#keys = keys;
    this.#lastRead = options.clock.monotonic();
    this.#lookLater();
  }

  /** Rejects if a first key cannot be written. */
  static async open(options: SealKeyFileOptions): Promise<SealKeyFile> {
    const keys = readKeys(sealKeysFile(options.stateDir));
    if (keys.kind === "damaged") {
      options.onProblem(
        `${sealKeysFile(options.stateDir)} is damaged; it is replaced, and clients have to start new sessions`,
      );
    }
    return new SealKeyFile(options, await renewedKeys(options));
  }

  get current(): SealKey {
    return this.#keys[0];
  }

  /** Another gateway may have added a key. */
  find(id: number): SealKey | undefined {
    const known = this.#keys.find((key) => key.id === id);
    if (known !== undefined) return known;
    const now = this.#options.clock.monotonic();
    if (now - this.#lastRead < LEAST_BETWEEN_READS) return undefined;
    this.#lastRead = now;
    const read = readKeys(this.#file);
    if (read.kind === "keys") this.#keys = read.keys;
    return this.#keys.find((key) => key.id === id);
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #lookLater(): void {
    this.#timer = this.#options.clock.later(LOOK_FOR_DUE_KEY, () => void this.#look());
  }

  async #look(): Promise<void> {
    try {
      this.#keys = await renewedKeys(this.#options);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#options.onProblem(`${this.#file} cannot be written, so the old key is used: ${reason}`);
    }
    if (this.#timer !== undefined) this.#lookLater();
  }
}

function sealKeysFile(stateDir: string): string {
  return join(stateDir, "gateway", "keys.json");
}

/** The keys in the file, with a new one if the newest is too old, and without those that nobody needs any more. */
async function renewedKeys(options: SealKeyFileOptions): Promise<StoredKeys> {
  const { stateDir, clock } = options;
  const file = sealKeysFile(stateDir);
  const found = readKeys(file);
  if (found.kind === "keys" && !isKeyDue(found.keys, clock)) return found.keys;
  return withLock(`${file}.lock`, clock, async () => {
    const read = readKeys(file);
    if (read.kind === "keys" && !isKeyDue(read.keys, clock)) return read.keys;
    const keys = withNewKey(read.kind === "keys" ? read.keys : [], options);
    await writeJsonFile(file, { format: FORMAT, keys: keys.map(keyToJson) });
    return keys;
  });
}

type KeysRead = { kind: "keys"; keys: StoredKeys } | { kind: "missing" } | { kind: "damaged" };

/** Synchronous, since `find` answers in the middle of a request. The file is small and local. */
function readKeys(file: string): KeysRead {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined) return { kind: "missing" };
    if (!found.isFile() || found.size > MAX_BYTES) return { kind: "damaged" };
    const value = tryParseJson(readFileSync(file, "utf8"));
    if (!isJsonObject(value) || value.format !== FORMAT || !Array.isArray(value.keys)) {
      return { kind: "damaged" };
    }
    const keys = keysFromJson(value.keys);
    return keys === undefined ? { kind: "damaged" } : { kind: "keys", keys };
  } catch {
    return { kind: "damaged" };
  }
}
