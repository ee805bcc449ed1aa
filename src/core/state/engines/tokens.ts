// The gateway's tokens in PostgreSQL. All are kept in memory, so that a request does not wait for the engine, and read again when
// one has changed. While the engine is away, those that are known stay valid for a limited time. Each row is sealed, so that
// nobody without the keys makes a token, or changes what one may do.

import { join } from "node:path";
import { objectIn, tryParseJson } from "../../types/json.ts";
import {
  DEFAULT_TOKEN,
  type GatewayToken,
  type NewToken,
  type TokenStore,
} from "../../types/shared-state.ts";
import type { Clock } from "../../../util/clock.ts";
import { createFile, removeFile } from "../../../util/own-file.ts";
import { replaceFile } from "../../../util/replace-file.ts";
import { KnownTokens } from "../known-tokens.ts";
import { EVERYBODY, type SignOuts, untilIn, withSignOuts } from "../sign-outs.ts";
import {
  checkRoom,
  findToken,
  isStoredToken,
  newToken,
  newTokenText,
  type StoredToken,
  tokenHash,
  withoutHash,
} from "../stored-token.ts";
import type { Postgres } from "./postgres.ts";
import type { Revisions } from "./revisions.ts";
import type { SealedValues } from "./sealed-values.ts";

export interface TokenRowsOptions {
  postgres: Postgres;
  revisions: Revisions;
  values: SealedValues;
  /** The default token is put into a file there, for the owner of this machine. */
  stateDir: string;
  /** Milliseconds that tokens stay valid while nobody can say whether they were revoked. */
  maxStale: number;
  clock: Clock;
  random: (bytes: number) => Buffer;
}

export class TokenRows implements TokenStore {
  readonly defaultFile: string;
  readonly #options: TokenRowsOptions;
  readonly #known: KnownTokens;
  #signOuts: SignOuts = new Map();

  constructor(options: TokenRowsOptions) {
    this.#options = options;
    this.defaultFile = join(options.stateDir, "gateway", "token");
    this.#known = new KnownTokens(options.clock, (used) => this.#storeUses(used));
    // If this rejects, the next beat reads them again.
    options.revisions.subscribe("tokens", () => this.#read());
  }

  find(text: string): GatewayToken | undefined {
    return this.#isStale ? undefined : this.#known.find(text);
  }

  current(id: string): GatewayToken | undefined {
    return this.#isStale ? undefined : this.#known.current(id);
  }

  async ensureDefault(): Promise<string> {
    const { revisions, values, random, clock } = this.#options;
    const made = newTokenText(random);
    const token: StoredToken = {
      id: DEFAULT_TOKEN,
      name: DEFAULT_TOKEN,
      createdAt: clock.now(),
      hash: tokenHash(made),
    };
    await this.#insert(token, made);
    let sealed = await this.#sealedDefault();
    if (sealed === undefined || values.open(sealed, placeOf(DEFAULT_TOKEN)) === undefined) {
      const replace = `update plugboard_tokens set sealed = $1
        where id = '${DEFAULT_TOKEN}' and sealed is not distinct from $2 returning 1`;
      await revisions.change("tokens", replace, [this.#seal(token, made), sealed]);
      sealed = await this.#sealedDefault();
    }
    const { text = made } = objectIn(
      tryParseJson(values.tryOpen(sealed, placeOf(DEFAULT_TOKEN)) ?? ""),
    );
    await this.#writeDefault(String(text));
    await revisions.look();
    return String(text);
  }

  /** Rejects with CONFIG_INVALID if there is a default token that cannot be opened. */
  async checkDefault(): Promise<void> {
    const sealed = await this.#sealedDefault();
    if (sealed !== undefined) this.#options.values.open(sealed, placeOf(DEFAULT_TOKEN));
  }

  async list(): Promise<GatewayToken[]> {
    return (await this.#all()).map(withoutHash);
  }

  async add(given: NewToken): Promise<{ token: GatewayToken; text: string }> {
    const { token, text, hash } = newToken(given, this.#options);
    checkRoom(given.name, await this.#all());
    const isAdded = await this.#insert({ ...token, hash });
    // Another has taken the name in between.
    if (!isAdded) checkRoom(given.name, [token]);
    return { token, text };
  }

  async revoke(nameOrId: string): Promise<GatewayToken> {
    const token = findToken(nameOrId, await this.#all());
    const remove = "delete from plugboard_tokens where id = $1 returning 1";
    await this.#options.revisions.change("tokens", remove, [token.id]);
    if (token.id === DEFAULT_TOKEN) await removeFile(this.defaultFile);
    return withoutHash(token);
  }

  async signOut(caller = EVERYBODY): Promise<void> {
    const { revisions, clock } = this.#options;
    await revisions.change(
      "tokens",
      `insert into plugboard_sign_outs values ($1, $2)
        on conflict (who) do update set at = greatest(plugboard_sign_outs.at, excluded.at) returning 1`,
      [caller, clock.now()],
      // They say nothing any more.
      caller === EVERYBODY ? ["delete from plugboard_sign_outs where who <> $1 and at <= $2"] : [],
    );
  }

  signedOutUntil(caller: string): number {
    return this.#isStale ? Infinity : untilIn(this.#signOuts, caller);
  }

  close(): Promise<void> {
    return this.#known.close();
  }

  /** A token may have been revoked meanwhile. */
  get #isStale(): boolean {
    return this.#options.revisions.age > this.#options.maxStale;
  }

  async #sealedDefault(): Promise<string | undefined> {
    const [row] = await this.#options.postgres.query(
      "select sealed from plugboard_tokens where id = $1",
      [DEFAULT_TOKEN],
    );
    return typeof row?.["sealed"] === "string" ? row["sealed"] : undefined;
  }

  /** With its text for the default token: its owner can read that one again. */
  #seal(token: StoredToken, text?: string): string {
    return this.#options.values.seal(JSON.stringify({ token, text }), placeOf(token.id));
  }

  async #insert(token: StoredToken, text?: string): Promise<boolean> {
    const { id, name, createdAt } = token;
    const changed = await this.#options.revisions.change(
      "tokens",
      `insert into plugboard_tokens (id, name, sealed, created_at)
        values ($1, $2, $3, $4) on conflict do nothing returning 1`,
      [id, name, this.#seal(token, text), createdAt],
    );
    return changed > 0;
  }

  /** The default token first, then the oldest. */
  async #all(): Promise<StoredToken[]> {
    const rows = await this.#options.postgres.query(
      `select id, sealed, last_used_at::float8 as used from plugboard_tokens
        order by id <> '${DEFAULT_TOKEN}', created_at, id`,
    );
    return rows.flatMap(({ id, sealed, used }) => {
      const opened = this.#options.values.tryOpen(sealed, placeOf(String(id)));
      const { token: stored } = objectIn(tryParseJson(opened ?? ""));
      if (!isStoredToken(stored)) return [];
      return typeof used === "number" ? { ...stored, lastUsedAt: used } : stored;
    });
  }

  async #read(): Promise<void> {
    const { postgres, clock } = this.#options;
    const rows = await postgres.query("select who, at::float8 as at from plugboard_sign_outs");
    // What was heard of stays, also if somebody removes it, or the engine has lost it. None was made later than now.
    const now = clock.now();
    this.#signOuts = withSignOuts(
      this.#signOuts,
      rows.map(({ who, at }) => [String(who), Math.min(Number(at), now)]),
    );
    this.#known.replace(await this.#all());
  }

  async #writeDefault(text: string): Promise<void> {
    const temporary = `${this.defaultFile}.tmp`;
    await removeFile(temporary);
    const file = await createFile(temporary);
    try {
      await file.writeFile(`${text}\n`);
    } finally {
      await file.close();
    }
    await replaceFile(temporary, this.defaultFile);
  }

  #storeUses(used: ReadonlyMap<string, number>): Promise<unknown> {
    const note = `update plugboard_tokens set last_used_at = greatest(last_used_at, used.at)
      from unnest($1::text[], $2::bigint[]) used (id, at) where plugboard_tokens.id = used.id`;
    return this.#options.postgres.query(note, [[...used.keys()], [...used.values()]]);
  }
}

function placeOf(id: string): string {
  return `token ${id}`;
}
