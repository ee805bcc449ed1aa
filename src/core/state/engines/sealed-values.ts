// What is secret in the database, and what a gateway acts on: it is encrypted under the first of the configured keys and
// opened with any of them, so that a new key can be put before the old one. Each value is bound to its place. Without
// configured keys it is stored as it is.

import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  hkdfSync,
  type KeyObject,
} from "node:crypto";
import { PlugboardError } from "../../types/errors.ts";

const ALGORITHM = "aes-256-gcm";
const [KEY_BYTES, NONCE_BYTES, TAG_BYTES, NAME_BYTES] = [32, 12, 16, 4];
const PLAIN = "plain:";
const SEALED = "sealed:";

interface NamedKey {
  /** The beginning of everything that it has sealed. */
  name: Buffer;
  key: KeyObject;
}

export class SealedValues {
  readonly #keys: readonly NamedKey[];
  readonly #random: (bytes: number) => Buffer;
  readonly #onIgnored: (place: string) => void;

  /** `onIgnored` hears where something is that `tryOpen` has not opened. */
  constructor(
    keys: readonly string[],
    random: (bytes: number) => Buffer,
    onIgnored: (place: string) => void = () => {},
  ) {
    this.#keys = keys.map(namedKey);
    this.#random = random;
    this.#onIgnored = onIgnored;
  }

  /** Whether what opens was written by somebody with the keys. */
  get areAuthentic(): boolean {
    return this.#keys.length > 0;
  }

  seal(value: string, place: string): string {
    const [first] = this.#keys;
    if (first === undefined) return PLAIN + value;
    const nonce = this.#random(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, first.key, nonce).setAAD(Buffer.from(place));
    const parts = [first.name, nonce, cipher.update(value, "utf8"), cipher.final()];
    return SEALED + Buffer.concat([...parts, cipher.getAuthTag()]).toString("base64");
  }

  /**
   * Undefined for what is not encrypted although there are keys: whoever can write to the database may have put it there.
   * Throws CONFIG_INVALID if none of the keys opens it.
   */
  open(stored: string, place: string): string | undefined {
    const opened = this.#opened(stored, place);
    if (opened !== undefined || stored.startsWith(PLAIN)) return opened;
    throw new PlugboardError(
      "CONFIG_INVALID",
      "what is stored in PostgreSQL cannot be opened with gateway.shared.keys",
      {
        hint: "every replica needs the same keys; after a change, keep the old key behind the new",
      },
    );
  }

  /** `open`, for what is ignored if somebody else may have written it: undefined then. */
  tryOpen(stored: unknown, place: string): string | undefined {
    if (typeof stored !== "string") return undefined;
    const opened = this.#opened(stored, place);
    if (opened === undefined) this.#onIgnored(place);
    return opened;
  }

  #opened(stored: string, place: string): string | undefined {
    if (stored.startsWith(PLAIN)) {
      return this.#keys.length === 0 ? stored.slice(PLAIN.length) : undefined;
    }
    const bytes = Buffer.from(stored.slice(SEALED.length), "base64");
    const name = bytes.subarray(0, NAME_BYTES);
    const nonce = bytes.subarray(NAME_BYTES, NAME_BYTES + NONCE_BYTES);
    const body = bytes.subarray(NAME_BYTES + NONCE_BYTES, -TAG_BYTES);
    for (const each of this.#keys.filter((key) => key.name.equals(name))) {
      try {
        const cipher = createDecipheriv(ALGORITHM, each.key, nonce, { authTagLength: TAG_BYTES })
          .setAAD(Buffer.from(place))
          .setAuthTag(bytes.subarray(-TAG_BYTES));
        return Buffer.concat([cipher.update(body), cipher.final()]).toString("utf8");
      } catch {
        // Another key may have the same name.
      }
    }
    return undefined;
  }
}

function namedKey(text: string): NamedKey {
  const bytes = Buffer.from(hkdfSync("sha256", text, "", "plugboard/shared-state", KEY_BYTES));
  const name = createHash("sha256").update(bytes).digest().subarray(0, NAME_BYTES);
  return { name, key: createSecretKey(bytes) };
}
