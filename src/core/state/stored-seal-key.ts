// The keys that seal what clients carry, wherever they are stored. A key seals for 30 days; then a new one takes over, and
// the old one stays for as long as something that it sealed can still be valid.

import { createSecretKey } from "node:crypto";
import { isJsonObject } from "../types/json.ts";
import type { SealKey } from "../types/key-ring.ts";
import type { Clock } from "../../util/clock.ts";

const KEY_BYTES = 32;
const MOST_KEYS = 64;
const DAY = 24 * 60 * 60 * 1000;

/** How long a key seals. */
const ROTATE_AFTER = 30 * DAY;
/** How often a running gateway looks whether a new key is due. */
export const LOOK_FOR_DUE_KEY = DAY / 24;

export interface StoredKey extends SealKey {
  createdAt: number;
}

/** Newest first. */
export type StoredKeys = readonly [StoredKey, ...StoredKey[]];

export interface NewKeyOptions {
  clock: Pick<Clock, "now">;
  random: (bytes: number) => Buffer;
  /** Milliseconds that a key is kept after its time. */
  keepFor: number;
}

/** It has sealed for long enough. */
export function isKeyDue([newest]: StoredKeys, clock: Pick<Clock, "now">): boolean {
  return clock.now() - newest.createdAt >= ROTATE_AFTER;
}

/** With a new key before them, and without those that nobody needs any more. */
export function withNewKey(
  old: readonly StoredKey[],
  { clock, random, keepFor }: NewKeyOptions,
): StoredKeys {
  const now = clock.now();
  const [newest] = old;
  // After the keys were lost, what a lost key sealed most likely names no key at all.
  const id = newest === undefined ? (random(1)[0] ?? 0) : (newest.id + 1) % 256;
  const made = { id, key: createSecretKey(random(KEY_BYTES)), createdAt: now };
  // A key stops sealing when the next one is made.
  const kept = old.filter((_, index) => now - (old[index - 1]?.createdAt ?? now) <= keepFor);
  return [made, ...kept.slice(0, MOST_KEYS - 1)];
}

export function keyToJson({ id, key, createdAt }: StoredKey): object {
  return { id, key: key.export().toString("base64"), createdAt };
}

/** Undefined if there is none that is whole. */
export function keysFromJson(values: readonly unknown[]): StoredKeys | undefined {
  const [first, ...rest] = values
    .flatMap((each) => keyFromJson(each) ?? [])
    .toSorted((a, b) => b.createdAt - a.createdAt);
  return first === undefined ? undefined : [first, ...rest];
}

function keyFromJson(value: unknown): StoredKey | undefined {
  if (!isJsonObject(value)) return undefined;
  const { id, key, createdAt } = value;
  if (!Number.isInteger(id) || Number(id) < 0 || Number(id) > 255) return undefined;
  if (typeof key !== "string" || typeof createdAt !== "number") return undefined;
  const bytes = Buffer.from(key, "base64");
  if (bytes.length !== KEY_BYTES) return undefined;
  return { id: Number(id), key: createSecretKey(bytes), createdAt };
}
