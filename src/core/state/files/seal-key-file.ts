// The keys that seal sessions, in a file that every gateway with this state directory shares. A key seals for 30 days;
// then a new one takes over, and the old one stays for as long as something that it sealed can still be valid.

import { createSecretKey } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject } from "../../types/json.ts";
import type { SealKey } from "../../types/key-ring.ts";
import type { SealKeyRing, SealKeysOptions } from "../../types/shared-state.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import { parseJson } from "../../../util/parse-json.ts";
import { writeJsonFile } from "../json-file.ts";
import { withLock } from "../lock.ts";

const FORMAT = 1;
const KEY_BYTES = 32;
const MAX_BYTES = 64 * 1024;
const MOST_KEYS = 64;
const DAY = 24 * 60 * 60 * 1000;

/** How long a key seals. */
const ROTATE_AFTER = 30 * DAY;
/** How often a running gateway looks whether a new key is due. */
const LOOK_EVERY = DAY / 24;
/** A client can send any key id: the file is read at most this often because of one that is unknown. */
const LEAST_BETWEEN_READS = 1000;

interface StoredKey extends SealKey {
  createdAt: number;
}

export interface SealKeyFileOptions extends SealKeysOptions {
  stateDir: string;
  clock: Clock;
  random: (bytes: number) => Buffer;
}

export class SealKeyFile implements SealKeyRing {
  readonly #options: SealKeyFileOptions;
  readonly #file: string;
  /** Newest first. */
  #keys: readonly [StoredKey, ...StoredKey[]];
  #lastRead: number;
  #timer: Timer | undefined;

  private constructor(options: SealKeyFileOptions, keys: readonly [StoredKey, ...StoredKey[]]) {
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
    this.#timer = this.#options.clock.later(LOOK_EVERY, () => void this.#look());
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
async function renewedKeys(
  options: SealKeyFileOptions,
): Promise<readonly [StoredKey, ...StoredKey[]]> {
  const { stateDir, clock, keepFor } = options;
  const file = sealKeysFile(stateDir);
  const isDue = ({ createdAt }: StoredKey): boolean => clock.now() - createdAt >= ROTATE_AFTER;
  const found = readKeys(file);
  if (found.kind === "keys" && !isDue(found.keys[0])) return found.keys;
  return withLock(`${file}.lock`, clock, async () => {
    const read = readKeys(file);
    const old = read.kind === "keys" ? read.keys : [];
    const [newest] = old;
    if (read.kind === "keys" && !isDue(read.keys[0])) return read.keys;
    const now = clock.now();
    const made = newKey(newest === undefined ? randomId(options) : (newest.id + 1) % 256, options);
    // A key stops sealing when the next one is made.
    const kept = old.filter((_, index) => now - (old[index - 1]?.createdAt ?? now) <= keepFor);
    const keys: [StoredKey, ...StoredKey[]] = [made, ...kept.slice(0, MOST_KEYS - 1)];
    await writeJsonFile(file, { format: FORMAT, keys: keys.map(toJson) });
    return keys;
  });
}

function newKey(id: number, { clock, random }: SealKeyFileOptions): StoredKey {
  return { id, key: createSecretKey(random(KEY_BYTES)), createdAt: clock.now() };
}

/** After the file was lost, what the lost key sealed most likely names no key at all. */
function randomId({ random }: SealKeyFileOptions): number {
  return random(1)[0] ?? 0;
}

function toJson({ id, key, createdAt }: StoredKey): object {
  return { id, key: key.export().toString("base64"), createdAt };
}

type KeysRead =
  | { kind: "keys"; keys: readonly [StoredKey, ...StoredKey[]] }
  | { kind: "missing" }
  | { kind: "damaged" };

/** Synchronous, since `find` answers in the middle of a request. The file is small and local. */
function readKeys(file: string): KeysRead {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined) return { kind: "missing" };
    if (!found.isFile() || found.size > MAX_BYTES) return { kind: "damaged" };
    const value = parseJson(readFileSync(file, "utf8"));
    if (!isJsonObject(value) || value.format !== FORMAT || !Array.isArray(value.keys)) {
      return { kind: "damaged" };
    }
    const [first, ...rest] = value.keys
      .flatMap((each: unknown) => readKey(each) ?? [])
      .toSorted((a, b) => b.createdAt - a.createdAt);
    return first === undefined ? { kind: "damaged" } : { kind: "keys", keys: [first, ...rest] };
  } catch {
    return { kind: "damaged" };
  }
}

function readKey(value: unknown): StoredKey | undefined {
  if (!isJsonObject(value)) return undefined;
  const { id, key, createdAt } = value;
  if (!Number.isInteger(id) || Number(id) < 0 || Number(id) > 255) return undefined;
  if (typeof key !== "string" || typeof createdAt !== "number") return undefined;
  const bytes = Buffer.from(key, "base64");
  if (bytes.length !== KEY_BYTES) return undefined;
  return { id: Number(id), key: createSecretKey(bytes), createdAt };
}
