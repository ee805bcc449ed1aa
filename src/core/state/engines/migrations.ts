// The tables, by numbered steps. Each is made once, whichever replica starts first. A step must leave the tables usable for the
// version of Plugboard before it, so that replicas can be replaced one after the other.

import { PlugboardError } from "../../types/errors.ts";
import { isRefused, type Postgres } from "./postgres.ts";

/** Any number that nothing else in the database uses for a lock. */
const LOCK = 758_401;

const STEPS: readonly string[] = [
  `
  create table plugboard_revisions (topic text primary key, revision bigint not null);
  insert into plugboard_revisions select topic, 0
    from unnest(array['pins', 'tokens', 'sessions', 'seal keys', 'audit', 'grants', 'lists']) topic;
  create table plugboard_replicas (
    id text primary key, name text not null, url text, configuration text, seen timestamptz not null);
  create table plugboard_salt (salt text not null);
  insert into plugboard_salt values (gen_random_uuid()::text || gen_random_uuid()::text);
  create table plugboard_tokens (
    id text primary key, name text not null unique, hash text not null, token text not null,
    sealed text, created_at bigint not null, last_used_at bigint);
  create table plugboard_pins (
    server text, key text, pins text not null, revision bigint not null, primary key (server, key));
  create table plugboard_pinned (server text, key text, primary key (server, key));
  create table plugboard_approvals (
    key text primary key, approval text not null, at bigint not null);
  create table plugboard_waiting (
    id text primary key, replica text not null, digest text not null, question text not null,
    answer text, expires_at bigint not null);
  create table plugboard_grants (kind text, key text, sealed text not null, primary key (kind, key));
  create table plugboard_leases (
    key text primary key, holder text not null, until timestamptz not null);
  create table plugboard_sessions (
    nonce text primary key, expires_at bigint not null, is_revoked boolean not null, notes text,
    revision bigint not null);
  create index on plugboard_sessions (revision);
  create index on plugboard_sessions (expires_at);
  create table plugboard_seal_keys (id smallint primary key, sealed text not null);
  create table plugboard_usage (
    day int, key text, used bigint not null, primary key (day, key));
  create table plugboard_audit (id uuid primary key, batch bigint not null, line text not null);
  create index on plugboard_audit (batch);
  `,
  // The version before this one adds rows without it.
  "alter table plugboard_sessions add column owner text",
  // What a gateway acts on is sealed, and nothing else of these rows counts. No version before this one was released.
  `
  alter table plugboard_replicas add column if not exists sealed text,
    drop column if exists name, drop column if exists url, drop column if exists configuration;
  alter table plugboard_tokens drop column if exists hash, drop column if exists token;
  `,
  "create table plugboard_sign_outs (who text primary key, at bigint not null)",
];

const TABLES = STEPS.flatMap((step) =>
  [...step.matchAll(/create table (\w+)/g)].map(([, name]) => name),
);
/** Rights that a gateway does not use, so a user without them is fine. */
const NEVER_USED = new Set([
  ...["insert", "update", "delete"].map((right) => `${right} on plugboard_salt`),
  "delete on plugboard_revisions",
  ...["update", "delete"].map((right) => `${right} on plugboard_audit`),
  "update on plugboard_pinned",
]);

/** What this user may not do although a gateway has to. Rejects if PostgreSQL cannot be reached. */
export async function missingRights(postgres: Postgres): Promise<string[]> {
  const rows = await postgres.query(
    `select needed || ' on ' || name as missing
      from unnest($1::text[]) name, unnest(array['select', 'insert', 'update', 'delete']) needed
      where not has_table_privilege(name, needed) order by name, needed`,
    [TABLES],
  );
  return rows.map(({ missing }) => String(missing)).filter((each) => !NEVER_USED.has(each));
}

/** Steps that a later version has made, and that this one can still work with. */
const LATER_STEPS = 1;

/** Makes the steps that are missing. Rejects with CONFIG_INVALID if that is not allowed, or a much later version was here. */
export async function migrate(postgres: Postgres): Promise<void> {
  await checkEncoding(postgres);
  if ((await stepsMade(postgres)) === STEPS.length) return;
  try {
    await postgres.transaction(async (client) => {
      await client.query("select pg_advisory_xact_lock($1)", [LOCK]);
      await client.query("create table if not exists plugboard_steps (made int not null)");
      const { rows } = await client.query("select max(made) as made from plugboard_steps");
      const made = Number(rows[0]?.["made"] ?? 0);
      checkLater(made, postgres);
      for (const step of STEPS.slice(made)) await client.query(step);
      if (made < STEPS.length) {
        await client.query("insert into plugboard_steps values ($1)", [STEPS.length]);
      }
    });
  } catch (error) {
    if (!isRefused(error)) throw error;
    throw new PlugboardError(
      "CONFIG_INVALID",
      `the tables in PostgreSQL at ${postgres.where} are missing or old, and this user may not make them`,
      {
        hint: "start one gateway as a user that may create tables there; docs/fleet.md says which rights are needed afterwards",
        cause: error,
      },
    );
  }
}

/** Any other has no room for some of the characters in names, and a line of the audit that is refused holds up all others. */
async function checkEncoding(postgres: Postgres): Promise<void> {
  const [row] = await postgres.query("select current_setting('server_encoding') as encoding");
  if (row?.["encoding"] === "UTF8") return;
  throw new PlugboardError(
    "CONFIG_INVALID",
    `the database in PostgreSQL at ${postgres.where} is in ${String(row?.["encoding"])}, and cannot hold every character`,
    { hint: "make one in UTF-8: createdb -E UTF8 -T template0 NAME" },
  );
}

/** 0 if there are no tables. Whoever may not make tables can start when all are there. */
async function stepsMade(postgres: Postgres): Promise<number> {
  const found = await postgres.query("select to_regclass('plugboard_steps') is not null as there");
  if (found[0]?.["there"] !== true) return 0;
  const rows = await postgres.query("select max(made) as made from plugboard_steps");
  const made = Number(rows[0]?.["made"] ?? 0);
  checkLater(made, postgres);
  return Math.min(made, STEPS.length);
}

function checkLater(made: number, { where }: Postgres): void {
  if (made <= STEPS.length + LATER_STEPS) return;
  throw new PlugboardError(
    "CONFIG_INVALID",
    `a later version of Plugboard has changed the tables in PostgreSQL at ${where}`,
    { hint: "update this one too: npm install plugboard" },
  );
}
