// The keys that seal what clients carry, in PostgreSQL and encrypted. A new key waits a minute before it seals, so that every
// replica can open what it seals.

import type { SealKey } from "../../types/key-ring.ts";
import { tryParseJson } from "../../types/json.ts";
import type { SealKeyRing, SealKeysOptions } from "../../types/shared-state.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import { errorMessage } from "../../../util/error-message.ts";
import {
  isKeyDue,
  keysFromJson,
  keyToJson,
  LOOK_FOR_DUE_KEY,
  type StoredKeys,
  withNewKey,
} from "../stored-seal-key.ts";
import type { Postgres, Row } from "./postgres.ts";
import type { Revisions } from "./revisions.ts";
import type { SealedValues } from "./sealed-values.ts";

const PLACE = "seal key";
const STORED = "select id, sealed from plugboard_seal_keys";
const KNOWN_BY_ALL = 60_000;

export interface SealKeyRowsOptions extends SealKeysOptions {
  postgres: Postgres;
  revisions: Revisions;
  values: SealedValues;
  clock: Clock;
  random: (bytes: number) => Buffer;
}

export class SealKeyRows implements SealKeyRing {
  readonly #options: SealKeyRowsOptions;
  #keys: StoredKeys;
  #timer: Timer | undefined;
  readonly #unsubscribe: () => void;

  private constructor(options: SealKeyRowsOptions, keys: StoredKeys) {
    this.#options = options;
    this.#keys = keys;
    this.#unsubscribe = options.revisions.subscribe("seal keys", () => this.#renew());
    this.#lookLater();
  }

  /** Rejects with CONFIG_INVALID if what is stored cannot be opened. */
  static async check(postgres: Postgres, values: SealedValues): Promise<void> {
    keysIn(await postgres.query(STORED), values);
  }

  static async open(options: SealKeyRowsOptions): Promise<SealKeyRows> {
    return new SealKeyRows(options, await renewedKeys(options));
  }

  get current(): SealKey {
    const [newest, before] = this.#keys;
    const isKnown = this.#options.clock.now() - newest.createdAt >= KNOWN_BY_ALL;
    return isKnown ? newest : (before ?? newest);
  }

  find(id: number): SealKey | undefined {
    return this.#keys.find((key) => key.id === id);
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#unsubscribe();
  }

  #lookLater(): void {
    this.#timer = this.#options.clock.later(LOOK_FOR_DUE_KEY, () => {
      void this.#renew().then(() => {
        if (this.#timer !== undefined) this.#lookLater();
      });
    });
  }

  async #renew(): Promise<void> {
    try {
      this.#keys = await renewedKeys(this.#options);
    } catch (error) {
      const why = errorMessage(error);
      this.#options.onProblem(
        `the keys of sessions cannot be read, so the old ones are used: ${why}`,
      );
    }
  }
}

/** The keys that are stored, with a new one if the newest is too old. Of several replicas, one makes it. */
async function renewedKeys(options: SealKeyRowsOptions): Promise<StoredKeys> {
  const { postgres, revisions, values, clock } = options;
  const stored = keysIn(await postgres.query(STORED), values);
  if (stored !== undefined && !isKeyDue(stored, clock)) return stored;
  const keys = await postgres.transaction(async (client) => {
    await client.query("lock table plugboard_seal_keys in exclusive mode");
    const { rows } = await client.query(STORED);
    const old = keysIn(rows, values);
    if (old !== undefined && !isKeyDue(old, clock)) return old;
    const made = withNewKey(old ?? [], options);
    await client.query("delete from plugboard_seal_keys where not id = any($1::smallint[])", [
      made.slice(1).map(({ id }) => id),
    ]);
    await client.query("insert into plugboard_seal_keys values ($1, $2)", [
      made[0].id,
      values.seal(JSON.stringify(keyToJson(made[0])), PLACE),
    ]);
    return made;
  });
  await revisions.publish("seal keys");
  return keys;
}

function keysIn(rows: readonly Row[], values: SealedValues): StoredKeys | undefined {
  const opened = rows.flatMap(({ sealed }) => values.open(String(sealed), PLACE) ?? []);
  return keysFromJson(opened.map(tryParseJson));
}
