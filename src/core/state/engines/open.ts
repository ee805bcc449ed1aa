// Opens the shared state that is in PostgreSQL and Valkey, for several machines. Read this file first.

import { randomBytes, randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { join } from "node:path";
import type { SharedSettings } from "../../types/gateway-settings.ts";
import { type Logger, silentLogger } from "../../types/logger.ts";
import type { SharedState, StateHealth } from "../../types/shared-state.ts";
import { type Clock, systemClock } from "../../../util/clock.ts";
import { CountedDays } from "../counted-days.ts";
import { LocalLimits } from "../local-limits.ts";
import { ApprovalRows, PendingApprovalRows } from "./approvals.ts";
import { AuditRows } from "./audit.ts";
import { DividedLimits } from "./divided-limits.ts";
import type { ImportOptional } from "./driver.ts";
import { GrantRows } from "./grants.ts";
import { ValkeyLimits } from "./limits.ts";
import { migrate, missingRights } from "./migrations.ts";
import { PinRows } from "./pins.ts";
import { asSetting, Postgres } from "./postgres.ts";
import { Revisions } from "./revisions.ts";
import { SealKeyRows } from "./seal-keys.ts";
import { SealedValues } from "./sealed-values.ts";
import { SessionRows } from "./sessions.ts";
import { Spool } from "./spool.ts";
import { TokenRows } from "./tokens.ts";
import { usageRows } from "./usage.ts";
import { openValkey } from "./valkey.ts";

export interface EngineStateOptions {
  /** References are filled in. */
  settings: SharedSettings;
  /** For what stays on this machine: the lines of the audit until they are sent, and the file of the default token. */
  stateDir: string;
  /** False for a command: it says nothing of itself to the others, and does not follow what they change. */
  isReplica: boolean;
  clock?: Clock;
  logger?: Logger;
  random?: (bytes: number) => Buffer;
  importOptional?: ImportOptional;
}

/**
 * Rejects with NETWORK if PostgreSQL cannot be reached, and with CONFIG_INVALID if its driver or a right is missing, or if it does
 * not let this user in as the settings are.
 */
export async function openEngineState(options: EngineStateOptions): Promise<SharedState> {
  const { settings, importOptional = (name) => import(name) } = options;
  const postgres = await Postgres.open(settings.postgres, importOptional);
  try {
    await migrate(postgres);
    return await openStores(postgres, { ...options, importOptional });
  } catch (error) {
    await postgres.close();
    throw asSetting(error);
  }
}

async function openStores(
  postgres: Postgres,
  options: EngineStateOptions & { importOptional: ImportOptional },
): Promise<SharedState> {
  const { settings, stateDir, isReplica, importOptional } = options;
  const { clock = systemClock, logger = silentLogger, random = randomBytes } = options;
  const { maxStale, keys } = settings;
  const id = randomUUID();
  const { url } = settings.replica ?? {};
  const replica = { id, name: url ?? hostname(), ...(url !== undefined && { url }) };
  const values = new SealedValues(keys, random, ignoredRows(logger));
  const revisions = new Revisions({
    postgres,
    replica: isReplica ? replica : undefined,
    values,
    clock,
  });
  const tokens = new TokenRows({ postgres, revisions, values, stateDir, maxStale, clock, random });
  const sessions = new SessionRows({ postgres, revisions, clock, logger });
  const spool = new Spool({
    directory: join(stateDir, "audit-spool"),
    random,
    now: () => clock.now(),
  });
  const audit = new AuditRows(postgres, spool, clock);
  const usage = new CountedDays(usageRows(postgres), clock);
  const divided = new DividedLimits(new LocalLimits(clock), () => revisions.count);
  const valkey =
    settings.valkey &&
    (await ValkeyLimits.open({
      valkey: await openValkey(settings.valkey, importOptional),
      divided,
      clock,
    }));
  const close = async (): Promise<void> => {
    await Promise.all([tokens.close(), sessions.close(), audit.close(), usage.close()]);
    await revisions.close();
    valkey?.close();
    await postgres.close();
  };
  try {
    await revisions.start();
    if (isReplica) await audit.sendLeft();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    pins: new PinRows(postgres, revisions, values),
    changes: revisions,
    replicas: revisions,
    approvals: new ApprovalRows(postgres, values),
    grants: new GrantRows(postgres, revisions, values, clock),
    limits: valkey ?? divided,
    usage,
    audit,
    tokens,
    sessions,
    pending: new PendingApprovalRows({ postgres, values, replica: id, clock }),
    openSealKeys: (given) =>
      SealKeyRows.open({ ...given, postgres, revisions, values, clock, random }),
    checkKeys: async () => {
      await SealKeyRows.check(postgres, values);
      await tokens.checkDefault();
    },
    missingRights: () => missingRights(postgres),
    health: () => ({
      replicas: revisions.count,
      engines: ["postgres", ...(valkey === undefined ? [] : ["valkey"]), "audit"],
      away: [
        postgres.refusals
          .filter((each) => each !== revisions.refusal && each !== audit.refusal)
          .map((message) => ({ engine: "postgres", message })),
        problem("postgres", `PostgreSQL at ${postgres.where} cannot be reached`, postgres.away),
        problem("postgres", "what other gateways change is not heard here", revisions.refusal),
        problem(
          "postgres",
          `the audit waits on this machine: PostgreSQL at ${postgres.where} does not take it`,
          audit.refusal,
        ),
        problem("audit", "calls are not recorded, here and in PostgreSQL", audit.failure),
        problem("valkey", `Valkey at ${valkey?.where} cannot be reached`, valkey?.away),
        problem(
          "valkey",
          "each gateway has a part of every limit, since the user of gateway.shared.valkey lacks a right that docs/fleet.md names",
          valkey?.refusal,
        ),
      ].flat(),
    }),
    close,
  };
}

/** By the first word of a place. The gateways that are listed have a problem of their own. */
const TABLES: Readonly<Record<string, string>> = {
  token: "plugboard_tokens",
  pins: "plugboard_pins",
  approval: "plugboard_approvals",
  waiting: "plugboard_waiting",
  answer: "plugboard_waiting",
};

/** Says once for each table that somebody may have written into it. */
function ignoredRows(logger: Logger): (place: string) => void {
  const said = new Set<string>();
  return (place) => {
    const table = TABLES[place.slice(0, place.indexOf(" "))];
    if (table === undefined || said.has(table)) return;
    said.add(table);
    logger.warn(
      `rows of ${table} are ignored: they were not written with gateway.shared.keys, but before there were keys, or by somebody else who can write to PostgreSQL`,
    );
  };
}

/** Empty while there is no reason `why`. */
function problem(engine: string, what: string, why: string | undefined): StateHealth["away"] {
  return why === undefined ? [] : [{ engine, message: `${what}: ${why}` }];
}
