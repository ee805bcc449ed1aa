// Pins in PostgreSQL: a row for each server definition, changed by compare and set, and sealed: pins that somebody else has
// written are unreadable. A second table says which definitions were pinned, so that rows that are gone are missed.

import { tryParseJson } from "../../types/json.ts";
import type { LostPins, PinnedServer, ServerPins } from "../../types/pin.ts";
import {
  type ChangePins,
  type PinStore,
  type StoredPins,
  UNCHANGED,
} from "../../types/shared-state.ts";
import { PlugboardError } from "../../types/errors.ts";
import { byName, pinsFromJson, pinsToJson } from "../stored-pins.ts";
import type { Postgres, Row } from "./postgres.ts";
import type { Revisions } from "./revisions.ts";
import type { SealedValues } from "./sealed-values.ts";

/** How often a change is tried again because somebody else has changed the pins in between. */
const MOST_TRIES = 100;

export class PinRows implements PinStore {
  readonly isPersistent = true;
  readonly #postgres: Postgres;
  readonly #revisions: Revisions;
  readonly #values: SealedValues;

  constructor(postgres: Postgres, revisions: Revisions, values: SealedValues) {
    this.#postgres = postgres;
    this.#revisions = revisions;
    this.#values = values;
  }

  async read(id: PinnedServer): Promise<StoredPins> {
    return this.#storedIn(await this.#row(id), id);
  }

  async update(id: PinnedServer, change: ChangePins): Promise<ServerPins | undefined> {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const row = await this.#row(id);
      const stored = this.#storedIn(row, id);
      const before = stored.kind === "pinned" ? stored.pins : undefined;
      const after = change(before, stored.kind === "lost" ? stored.lost : undefined);
      if (after === UNCHANGED || (after === before && stored.kind !== "lost")) return before;
      const isDone =
        after === undefined
          ? await this.#remove(id, row["revision"])
          : await this.#put(id, row["revision"], JSON.stringify(pinsToJson(after)));
      if (isDone) return after;
    }
    throw new PlugboardError("TIMEOUT", `the pins of ${id.server} change all the time`);
  }

  async list(): Promise<ServerPins[]> {
    const rows = await this.#postgres.query("select server, key, pins from plugboard_pins");
    return rows
      .flatMap(({ server, key, pins }) => {
        return this.#pinsIn(pins, { server: String(server), key: String(key) }) ?? [];
      })
      .sort(byName);
  }

  async lost(): Promise<LostPins[]> {
    const rows = await this.#postgres.query(
      "select server, key, pins, true as known from plugboard_pinned left join plugboard_pins using (server, key)",
    );
    const all = rows.map((row) =>
      this.#storedIn(row, { server: String(row["server"]), key: String(row["key"]) }),
    );
    return all.flatMap((each) => (each.kind === "lost" ? [each.lost] : [])).sort(byName);
  }

  async #row({ server, key }: PinnedServer): Promise<Row> {
    const [row] = await this.#postgres.query(
      `select pins, revision::text, exists (select 1 from plugboard_pinned
          where server = $1 and key = $2) as known
        from (select 1) one left join plugboard_pins on server = $1 and key = $2`,
      [server, key],
    );
    return row ?? {};
  }

  #pinsIn(sealed: unknown, id: PinnedServer): ServerPins | undefined {
    return pinsFromJson(tryParseJson(this.#values.tryOpen(sealed, placeOf(id)) ?? ""));
  }

  #storedIn({ pins: text, known }: Row, { server, key }: PinnedServer): StoredPins {
    const pins = this.#pinsIn(text, { server, key });
    if (pins !== undefined) return { kind: "pinned", pins };
    if (typeof text !== "string" && known !== true) return { kind: "none" };
    const why = typeof text === "string" ? "unreadable" : "missing";
    const file = `the table plugboard_pins of PostgreSQL at ${this.#postgres.where}`;
    return { kind: "lost", lost: { server, key, file, why } };
  }

  async #put({ server, key }: PinnedServer, revision: unknown, pins: string): Promise<boolean> {
    const record =
      "insert into plugboard_pinned select $1, $2 from changed on conflict (server, key) do nothing";
    const values = [server, key, this.#values.seal(pins, placeOf({ server, key }))];
    const changed =
      typeof revision === "string"
        ? await this.#revisions.change(
            "pins",
            `update plugboard_pins set pins = $3, revision = (select revision from bumped)
              where server = $1 and key = $2 and revision = $4 returning 1`,
            [...values, revision],
            [record],
          )
        : await this.#revisions.change(
            "pins",
            `insert into plugboard_pins select $1, $2, $3, revision from bumped
              on conflict (server, key) do nothing returning 1`,
            values,
            [record],
          );
    return changed > 0;
  }

  async #remove({ server, key }: PinnedServer, revision: unknown): Promise<boolean> {
    if (typeof revision !== "string") {
      const forget = "delete from plugboard_pinned where server = $1 and key = $2 returning 1";
      await this.#revisions.change("pins", forget, [server, key]);
      return true;
    }
    const changed = await this.#revisions.change(
      "pins",
      "delete from plugboard_pins where server = $1 and key = $2 and revision = $3 returning 1",
      [server, key, revision],
      [
        "delete from plugboard_pinned where server = $1 and key = $2 and exists (select 1 from changed)",
      ],
    );
    return changed > 0;
  }
}

function placeOf({ server, key }: PinnedServer): string {
  return `pins ${JSON.stringify([server, key])}`;
}
