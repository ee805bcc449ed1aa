// The way to PostgreSQL: a pool of connections, whether the engine can be reached, and its notifications. While it cannot be
// reached, everybody is told so at once, and only a probe tries again.

import { PlugboardError } from "../../types/errors.ts";
import type { PostgresSettings } from "../../types/gateway-settings.ts";
import { hasErrorCode } from "../../../util/error-code.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { oneLine } from "../../../util/text.ts";
import { driver, type ImportOptional, isOfTls, readTlsFiles, whyAway } from "./driver.ts";

/** As `pg` gives them; large numbers are asked for as text. */
export type Row = Readonly<Record<string, string | number | boolean | null | undefined>>;

interface Answer {
  rows: Row[];
}

interface Queries {
  query(text: string, values?: readonly unknown[]): Promise<Answer>;
}

interface Client extends Queries {
  connect(): Promise<unknown>;
  end(): Promise<void>;
  on(event: "notification", listener: (message: { payload?: string }) => void): void;
  on(event: "error" | "end", listener: (error?: Error) => void): void;
}

interface PooledClient extends Queries {
  release(error?: unknown): void;
}

interface Pool extends Queries {
  connect(): Promise<PooledClient>;
  end(): Promise<void>;
  on(event: "error", listener: () => void): void;
}

/** The part of `pg` that is used. */
interface Driver {
  Pool: new (options: object) => Pool;
  Client: new (options: object) => Client;
}

const PACKAGE = { name: "pg", install: "pg" };
/** Others wait for the answer: a call, a request. */
const CONNECT_MS = 2000;
const ANSWER_MS = 5000;
const MOST_CONNECTIONS = 5;
const IDLE_MS = 30_000;
const DEFAULT_PORT = 5432;

/** Everybody who uses the database hears notifications by the name of their channel. */
const CHANNEL = "plugboard";

export class Postgres {
  /** For people, without credentials. */
  readonly where: string;
  readonly #pool: Pool;
  readonly #newClient: () => Client;
  /** Why it cannot be reached, while it cannot. */
  #away: string | undefined;
  #outages = 0;
  /** The statements that were refused to this user, by their text, and have not succeeded since. */
  readonly #refused = new Map<string, { message: string; values: number }>();
  #listener: Promise<Client | undefined> | undefined;
  #isClosed = false;

  private constructor(where: string, pool: Pool, newClient: () => Client) {
    this.where = where;
    this.#pool = pool;
    this.#newClient = newClient;
    // A connection that breaks while nobody uses it: the next one who needs one gets another.
    pool.on("error", () => {});
  }

  /** Connects with the first query. Rejects with CONFIG_INVALID if the driver is not installed or a file cannot be read. */
  static async open(settings: PostgresSettings, importOptional: ImportOptional): Promise<Postgres> {
    const { Pool, Client } = (await driver(PACKAGE, importOptional)) as unknown as Driver;
    const { host, port, user, database } = addressIn(settings);
    const options = {
      host,
      port,
      user,
      database,
      password: settings.password,
      ssl: settings.tls ? await readTlsFiles(settings.tls, host) : false,
      application_name: "plugboard",
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: ANSWER_MS,
      statement_timeout: ANSWER_MS,
      keepAlive: true,
    };
    const pool = new Pool({ ...options, max: MOST_CONNECTIONS, idleTimeoutMillis: IDLE_MS });
    return new Postgres(`${host}:${port}/${database}`, pool, () => new Client(options));
  }

  /** Why it cannot be reached, while it cannot. */
  get away(): string | undefined {
    return this.#away;
  }

  /** How often somebody got no answer. */
  get outages(): number {
    return this.#outages;
  }

  /** Why it refuses statements of this user, although it can be reached. Each reason once. */
  get refusals(): readonly string[] {
    return [...new Set([...this.#refused.values()].map(({ message }) => message))];
  }

  /**
   * Asks again about the statements that were refused, and forgets those that would run now. EXPLAIN takes the same rights as a
   * statement, and runs nothing. Never rejects.
   */
  async tryRefused(): Promise<void> {
    for (const [text, { values }] of this.#refused) {
      const asked = this.#pool.query(
        `explain ${text}`,
        Array.from({ length: values }, () => null),
      );
      await asked.then(
        () => this.#refused.delete(text),
        (error: unknown) => {
          // Not every statement can be explained. Such a one is forgotten, and is listed again when it is refused again.
          if (!isRefused(error) && !isUnreachable(error)) this.#refused.delete(text);
        },
      );
    }
  }

  /** Rejects with NETWORK if the engine cannot be reached. */
  async query(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    if (this.#away !== undefined) throw this.#unreachable(this.#away);
    return this.probe(text, values);
  }

  /** Like `query`, and tries also while the engine is taken to be away. */
  probe(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#noting(async () => (await this.#run(this.#pool, text, values)).rows);
  }

  /** Runs the task in one transaction. */
  transaction<Result>(task: (client: Queries) => Promise<Result>): Promise<Result> {
    return this.#noting(async () => {
      const client = await this.#pool.connect();
      try {
        await client.query("begin");
        const result = await task({
          query: (text, values = []) => this.#run(client, text, values),
        });
        await client.query("commit");
        client.release();
        return result;
      } catch (error) {
        // The connection ends, and with it the transaction.
        client.release(error);
        throw error;
      }
    });
  }

  /** Listens to notifications, unless it does already. Never rejects: they are only hints. */
  async listen(onMessage: (payload: string) => void): Promise<void> {
    if (this.#isClosed) return;
    this.#listener ??= this.#startListening(onMessage);
    if ((await this.#listener) === undefined) this.#listener = undefined;
  }

  /** Resolves when every connection is closed. Never rejects. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const listener = await this.#listener;
    await listener?.end().catch(() => {});
    await this.#pool.end().catch(() => {});
  }

  async #startListening(onMessage: (payload: string) => void): Promise<Client | undefined> {
    const client = this.#newClient();
    const lost = (): void => {
      this.#listener = undefined;
    };
    client.on("error", lost);
    client.on("end", lost);
    client.on("notification", ({ payload = "" }) => onMessage(payload));
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
      return client;
    } catch {
      void client.end().catch(() => {});
      return undefined;
    }
  }

  async #run(by: Queries, text: string, values: readonly unknown[]): Promise<Answer> {
    try {
      const answer = await by.query(text, values);
      this.#refused.delete(text);
      return answer;
    } catch (error) {
      if (isRefused(error)) {
        const { message } = this.#refusal(error);
        this.#refused.set(text, { message, values: values.length });
      }
      throw error;
    }
  }

  async #noting<Result>(task: () => Promise<Result>): Promise<Result> {
    try {
      const result = await task();
      this.#away = undefined;
      return result;
    } catch (error) {
      if (isRefused(error)) throw this.#refusal(error);
      if (hasErrorCode(error, TOO_LARGE)) throw this.#tooLarge(error);
      if (!isUnreachable(error)) throw error;
      this.#away = whyAway(error, "postgres") || "no answer";
      this.#outages += 1;
      throw this.#unreachable(this.#away, error);
    }
  }

  #refusal(cause: unknown): PlugboardError {
    const why = oneLine(errorMessage(cause), 200);
    return new PlugboardError("CONFIG_INVALID", `PostgreSQL at ${this.where} refuses: ${why}`, {
      hint: "give the user of gateway.shared.postgres the rights that docs/fleet.md names, on all tables of Plugboard",
      cause,
    });
  }

  #tooLarge(cause: unknown): PlugboardError {
    const what = `a number in PostgreSQL at ${this.where} is too large to add to`;
    return new PlugboardError("SYSTEM_ERROR", `${what}: ${oneLine(errorMessage(cause), 200)}`, {
      hint: "Plugboard does not count that far, so somebody else has written there; docs/fleet.md says how to begin the numbers anew",
      cause,
    });
  }

  #unreachable(why: string, cause?: unknown): PlugboardError {
    return new PlugboardError("NETWORK", `PostgreSQL at ${this.where} cannot be reached: ${why}`, {
      hint: "check the address, user and password in gateway.shared.postgres, and whether it runs",
      cause,
    });
  }
}

/** The statement that sends a notification; `text` is an expression. */
export function notification(text: string): string {
  return `pg_notify('${CHANNEL}', ${text})`;
}

export function isAway(error: unknown): boolean {
  return error instanceof PlugboardError && error.code === "NETWORK";
}

/**
 * While a gateway runs, an engine that lets nobody in is away like one that is not there, and comes back. When one starts, its
 * settings are wrong, and waiting does not mend them.
 */
export function asSetting(error: unknown): unknown {
  if (!(error instanceof PlugboardError) || !isAway(error)) return error;
  const isSetting = hasErrorCode(error.cause, ...NOT_LET_IN) || isOfTls(error.cause);
  if (!isSetting) return error;
  const { message, hint, cause } = error;
  return new PlugboardError("CONFIG_INVALID", message, { hint, cause });
}

/** Why the engine does not do what it was asked, although it can be reached. Undefined if it cannot. */
export function refusalIn(error: unknown): string | undefined {
  return isAway(error) ? undefined : oneLine(errorMessage(error), 200);
}

interface Address {
  host: string;
  port: number;
  user: string | undefined;
  database: string;
}

function addressIn({ url }: PostgresSettings): Address {
  const { hostname, port, username, pathname, searchParams } = new URL(url);
  const user = decodeURIComponent(username) || undefined;
  return {
    // A directory is that of a socket.
    host: searchParams.get("host") ?? (decodeURIComponent(hostname) || "localhost"),
    port: Number(port || DEFAULT_PORT),
    user,
    database: decodeURIComponent(pathname.slice(1)) || (user ?? "plugboard"),
  };
}

/** The user or the password is wrong, or may not come from here; the database is not there. */
const NOT_LET_IN = ["28000", "28P01", "3D000"];
/** A number does not fit. */
const TOO_LARGE = "22003";
/** This user lacks a right, or a table is not there, or not for this user. */
const REFUSED = ["42501", "42P01"];
/**
 * Answers of the engine that mean the same as none: it starts, stops, takes too long, has no room, has become the copy of another,
 * does not let this user in, or has no such database.
 */
const NO_SERVICE = /^(?:08|28|53|57P0)|^(?:25006|3D000|57014)$/;
const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Also of what `Postgres` makes of it. */
export function isRefused(error: unknown): boolean {
  const answer = error instanceof PlugboardError ? error.cause : error;
  return hasErrorCode(answer, ...REFUSED);
}

function isUnreachable(error: unknown): boolean {
  if (error instanceof PlugboardError) return false;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  // A system's error code may look like an SQLSTATE: EPIPE does.
  if (!SQLSTATE.test(code) || hasErrorCode(error, "EPIPE")) return true;
  return NO_SERVICE.test(code);
}
