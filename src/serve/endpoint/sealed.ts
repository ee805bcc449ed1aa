// Seals state that a client keeps for the gateway, so that the gateway need not remember it: AES-256-GCM under a key
// ring. The text is base64url of a version byte, the key's id, a nonce, the ciphertext and its tag.

import { createCipheriv, createDecipheriv, createSecretKey } from "node:crypto";
import { isJsonObject, type JsonObject } from "../../core/types/json.ts";
import type { KeyRing } from "../../core/types/key-ring.ts";

export type { KeyRing, SealKey } from "../../core/types/key-ring.ts";

const VERSION = 1;
const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 2;
const LEAST_BYTES = HEAD_BYTES + NONCE_BYTES + TAG_BYTES;

export class Sealer {
  readonly #keys: KeyRing;
  readonly #random: (bytes: number) => Buffer;

  constructor(keys: KeyRing, random: (bytes: number) => Buffer) {
    this.#keys = keys;
    this.#random = random;
  }

  /** Has a key that nobody else has and that is gone with the sealer: for clients that cannot outlive it. */
  static withOwnKey(random: (bytes: number) => Buffer): Sealer {
    const key = { id: 0, key: createSecretKey(random(32)) };
    return new Sealer({ current: key, find: (id) => (id === key.id ? key : undefined) }, random);
  }

  /** A value that was sealed for one purpose cannot be opened for another. */
  seal(purpose: string, value: JsonObject): string {
    const { id, key } = this.#keys.current;
    const head = Buffer.of(VERSION, id);
    const nonce = this.#random(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(authenticated(head, purpose));
    const hidden = [cipher.update(JSON.stringify(value), "utf8"), cipher.final()];
    return Buffer.concat([head, nonce, ...hidden, cipher.getAuthTag()]).toString("base64url");
  }

  /** Undefined for whatever no key of the ring has sealed for this purpose. Never throws. */
  open(purpose: string, text: string): JsonObject | undefined {
    const bytes = Buffer.from(text, "base64url");
    // Node ignores what is not base64url. Without the comparison, one sealed value would have many spellings.
    if (bytes.length < LEAST_BYTES || bytes[0] !== VERSION) return undefined;
    if (bytes.toString("base64url") !== text) return undefined;
    const sealKey = this.#keys.find(bytes[1] ?? 0);
    if (sealKey === undefined) return undefined;
    const head = bytes.subarray(0, HEAD_BYTES);
    const nonce = bytes.subarray(HEAD_BYTES, HEAD_BYTES + NONCE_BYTES);
    const hidden = bytes.subarray(HEAD_BYTES + NONCE_BYTES, -TAG_BYTES);
    try {
      const decipher = createDecipheriv(ALGORITHM, sealKey.key, nonce, {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(authenticated(head, purpose));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const plain = Buffer.concat([decipher.update(hidden), decipher.final()]).toString("utf8");
      const value: unknown = JSON.parse(plain);
      return isJsonObject(value) ? value : undefined;
    } catch {
      return undefined;
    }
  }
}

/** The version and the key's id are fixed with the purpose. */
function authenticated(head: Buffer, purpose: string): Buffer {
  return Buffer.concat([head, Buffer.from(purpose)]);
}
