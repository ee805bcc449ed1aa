// What sign-ins produce, in PostgreSQL and encrypted. A document is replaced by compare and set on its encrypted text, which
// differs each time. A lease is a row that its holder renews; the engine's clock decides when it ends.

import { randomUUID } from "node:crypto";
import { isJsonObject, type JsonObject, tryParseJson } from "../../types/json.ts";
import { PlugboardError } from "../../types/errors.ts";
import type { GrantDocument, GrantStore } from "../../types/shared-state.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import { type Clock, pause, type Timer } from "../../../util/clock.ts";
import { isAway, type Postgres } from "./postgres.ts";
import type { Revisions } from "./revisions.ts";
import type { SealedValues } from "./sealed-values.ts";

const LEASE = "now() + interval '15 seconds'";
const RENEW_MS = 4000;
const POLL_MS = 100;
const PATIENCE_MS = 60_000;
/** Documents that are known while PostgreSQL is away. */
const MOST_KNOWN = 10_000;

export class GrantRows implements GrantStore {
  readonly #postgres: Postgres;
  readonly #revisions: Revisions;
  readonly #values: SealedValues;
  readonly #clock: Clock;
  /** As they were last read or written. Tokens that have not expired can be used without the engine. */
  readonly #known = new Map<string, JsonObject | undefined>();

  constructor(postgres: Postgres, revisions: Revisions, values: SealedValues, clock: Clock) {
    this.#postgres = postgres;
    this.#revisions = revisions;
    this.#values = values;
    this.#clock = clock;
  }

  async read(kind: GrantDocument, key: string): Promise<JsonObject | undefined> {
    const place = placeOf(kind, key);
    try {
      return this.#know(place, (await this.#stored(kind, key)).value);
    } catch (error) {
      if (isAway(error) && this.#known.has(place)) return this.#known.get(place);
      throw error;
    }
  }

  async write(kind: GrantDocument, key: string, value: JsonObject): Promise<void> {
    await this.#postgres.query(
      `insert into plugboard_grants values ($1, $2, $3)
        on conflict (kind, key) do update set sealed = excluded.sealed`,
      [kind, key, this.#seal(kind, key, value)],
    );
    this.#know(placeOf(kind, key), value);
  }

  async remove(kind: GrantDocument, key: string): Promise<void> {
    const statement = "delete from plugboard_grants where kind = $1 and key = $2 returning 1";
    // Others use the tokens until they hear of it, and whoever removes them may not get to say so.
    if (kind === "grant") await this.#revisions.change("grants", statement, [kind, key]);
    else await this.#postgres.query(statement, [kind, key]);
    this.#know(placeOf(kind, key), undefined);
  }

  async replace(
    kind: GrantDocument,
    key: string,
    before: JsonObject | undefined,
    after: JsonObject | undefined,
  ): Promise<boolean> {
    for (;;) {
      const { sealed, value } = await this.#stored(kind, key);
      if (canonicalJson(value) !== canonicalJson(before)) return false;
      if (after === undefined && sealed === undefined) return true;
      const rows = await this.#set([kind, key], sealed, after && this.#seal(kind, key, after));
      if (rows.length === 0) continue;
      this.#know(placeOf(kind, key), after);
      return true;
    }
  }

  async withLease<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const holder = randomUUID();
    const deadline = this.#clock.monotonic() + PATIENCE_MS;
    while (!(await this.#takeLease(key, holder))) {
      if (this.#clock.monotonic() > deadline) {
        throw new PlugboardError("TIMEOUT", "another gateway renews the same sign-in for too long");
      }
      await pause(this.#clock, POLL_MS);
    }
    let timer: Timer | undefined;
    const renewLater = (): void => {
      timer = this.#clock.later(RENEW_MS, () => {
        void this.#postgres
          .query(`update plugboard_leases set until = ${LEASE} where key = $1 and holder = $2`, [
            key,
            holder,
          ])
          .catch(() => {});
        renewLater();
      });
    };
    renewLater();
    try {
      return await task();
    } finally {
      timer?.cancel();
      // If this fails, the lease ends by itself.
      await this.#postgres
        .query("delete from plugboard_leases where key = $1 and holder = $2", [key, holder])
        .catch(() => {});
    }
  }

  async #takeLease(key: string, holder: string): Promise<boolean> {
    const rows = await this.#postgres.query(
      `insert into plugboard_leases values ($1, $2, ${LEASE})
        on conflict (key) do update set holder = excluded.holder, until = excluded.until
        where plugboard_leases.until < now() returning 1`,
      [key, holder],
    );
    return rows.length > 0;
  }

  #set(
    id: readonly [GrantDocument, string],
    sealed: string | undefined,
    next: string | undefined,
  ): Promise<readonly object[]> {
    if (sealed === undefined) {
      return this.#postgres.query(
        "insert into plugboard_grants values ($1, $2, $3) on conflict (kind, key) do nothing returning 1",
        [...id, next],
      );
    }
    const where = "where kind = $1 and key = $2 and sealed = $3 returning 1";
    return next === undefined
      ? this.#postgres.query(`delete from plugboard_grants ${where}`, [...id, sealed])
      : this.#postgres.query(`update plugboard_grants set sealed = $4 ${where}`, [
          ...id,
          sealed,
          next,
        ]);
  }

  async #stored(
    kind: GrantDocument,
    key: string,
  ): Promise<{ sealed: string | undefined; value: JsonObject | undefined }> {
    const [row] = await this.#postgres.query(
      "select sealed from plugboard_grants where kind = $1 and key = $2",
      [kind, key],
    );
    if (row === undefined) return { sealed: undefined, value: undefined };
    const sealed = String(row["sealed"]);
    const value = tryParseJson(this.#values.open(sealed, placeOf(kind, key)) ?? "");
    return { sealed, value: isJsonObject(value) ? value : undefined };
  }

  #seal(kind: GrantDocument, key: string, value: JsonObject): string {
    return this.#values.seal(JSON.stringify(value), placeOf(kind, key));
  }

  #know(place: string, value: JsonObject | undefined): JsonObject | undefined {
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(place, value);
    return value;
  }
}

function placeOf(kind: GrantDocument, key: string): string {
  return `grant ${kind} ${key}`;
}
