// The keys that seal sessions, in a file that every gateway with this state directory shares.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject } from "../../types/json.ts";
import type { SealKey } from "../../types/key-ring.ts";
import type { SealKeyRing, SealKeysOptions } from "../../types/shared-state.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { readJsonFileNow, writeJsonFile } from "../json-file.ts";
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
    const file = sealKeysFile(options.stateDir);
    if (readKeys(file) === undefined && existsSync(file)) {
      options.onProblem(
        `${file} is damaged; it is replaced, and clients have to start new sessions`,
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
    this.#keys = readKeys(this.#file) ?? this.#keys;
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
      const why = errorMessage(error);
      this.#options.onProblem(`${this.#file} cannot be written, so the old key is used: ${why}`);
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
  if (found !== undefined && !isKeyDue(found, clock)) return found;
  return withLock(`${file}.lock`, clock, async () => {
    const old = readKeys(file);
    if (old !== undefined && !isKeyDue(old, clock)) return old;
    const keys = withNewKey(old ?? [], options);
    await writeJsonFile(file, { format: FORMAT, keys: keys.map(keyToJson) });
    return keys;
  });
}

/** Undefined if there are none that are whole. Synchronous, since `find` answers in the middle of a request. */
function readKeys(file: string): StoredKeys | undefined {
  const value = readJsonFileNow(file, MAX_BYTES);
  return isJsonObject(value) && value.format === FORMAT && Array.isArray(value.keys)
    ? keysFromJson(value.keys)
    : undefined;
}
