// What each key has used on a day, in PostgreSQL.

import type { UsageStore } from "../counted-days.ts";
import type { Postgres, Row } from "./postgres.ts";

/** Days that are kept, for whoever wants to look. */
const KEPT_DAYS = 35;

export function usageRows(postgres: Postgres): UsageStore {
  let cleaned = 0;
  return {
    async add(day, used) {
      // In one order, so that two replicas do not wait for each other.
      const keys = [...used.keys()].toSorted();
      const rows = await postgres.query(
        `insert into plugboard_usage (day, key, used)
          select $1::int, key, more from unnest($2::text[], $3::bigint[]) given (key, more)
          on conflict (day, key) do update set used = plugboard_usage.used + excluded.used
          returning key, used`,
        [day, keys, keys.map((key) => used.get(key))],
      );
      if (cleaned !== day) {
        cleaned = day;
        await postgres
          .query("delete from plugboard_usage where day < $1", [day - KEPT_DAYS])
          .catch(() => {});
      }
      return byKey(rows);
    },
    async read(day, keys) {
      const select = "select key, used from plugboard_usage where day = $1 and key = any($2)";
      return byKey(await postgres.query(select, [day, keys]));
    },
  };
}

function byKey(rows: readonly Row[]): Map<string, number> {
  return new Map(rows.map(({ key, used }) => [String(key), Number(used)]));
}
