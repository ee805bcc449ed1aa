// The record of the gateway that runs for a configuration, so that other commands find it and can attach to it.

import { randomBytes } from "node:crypto";
import { constants, copyFileSync, readdirSync, renameSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { shortHash } from "../../util/short-hash.ts";
import { readJsonFileNow, writeJsonFile } from "./json-file.ts";
import { isOwner, ownerName, ownerState } from "./process-owner.ts";

export interface RunningGateway {
  pid: number;
  /** Milliseconds since the epoch. */
  since: number;
  /** The version of Plugboard that it is. */
  version: string;
  /** Where this machine reaches it over HTTP, without a path. A background gateway is not reached that way. */
  url?: string;
  /** The configuration file, if there is one: its real directory, and its name in it. */
  config?: string;
  /** The file with its certificate, if it speaks TLS. */
  certificate?: string;
  /** A command started it, and it ends by itself when nobody uses it. */
  background?: true;
  /** Where other commands attach to it. */
  channel?: { path: string; key: string };
  /** What it was started with, as config/fingerprint.ts describes it. */
  fingerprint?: unknown;
}

const MOST_BYTES = 1024 * 1024;

/** A file for the gateway of a configuration: two of them would each start its servers. */
export function gatewayFile(
  stateDir: string,
  config: string | undefined,
  kind: "lock" | "json" | "log",
): string {
  return join(stateDir, "gateway", `${shortHash(config ?? "none")}.${kind}`);
}

/** Returns a function that removes the record. A later record replaces an earlier one. */
export async function recordGateway(
  stateDir: string,
  gateway: RunningGateway,
): Promise<() => Promise<void>> {
  const file = gatewayFile(stateDir, gateway.config, "json");
  await writeJsonFile(file, { ...gateway, owner: ownerName() });
  return () => rm(file, { force: true });
}

/** Undefined if none runs. The record of one that has ended without removing it is removed. */
export async function findGateway(
  stateDir: string,
  config: string | undefined,
): Promise<RunningGateway | undefined> {
  const file = gatewayFile(stateDir, config, "json");
  const found = readRecord(readJsonFileNow(file, MOST_BYTES));
  if (found === undefined) return undefined;
  const { owner, ...gateway } = found;
  if (ownerState(owner) !== "gone") return gateway;
  return removeStaleRecord(file);
}

/** The records of gateways that have ended without removing them. */
export function staleRecords(stateDir: string): string[] {
  return recordsIn(stateDir).flatMap(({ file, record }) =>
    ownerState(record.owner) === "gone" ? [file] : [],
  );
}

/**
 * Removes the record of a gateway that has ended. If another gateway has written its own since, that is put back and
 * returned.
 */
export function removeStaleRecord(file: string): RunningGateway | undefined {
  const aside = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    // Under another name, nobody replaces it between this look and its removal.
    renameSync(file, aside);
    const record = readRecord(readJsonFileNow(aside, MOST_BYTES));
    if (record === undefined || ownerState(record.owner) === "gone") return undefined;
    const { owner: _, ...gateway } = record;
    // Not over a newer one. A link would do that too, but not every file system has links.
    copyFileSync(aside, file, constants.COPYFILE_EXCL);
    return gateway;
  } catch {
    // Another command has removed it, or there is a newer one.
    return undefined;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** The URLs of all gateways that run with this state directory. */
export function gatewayUrls(stateDir: string): string[] {
  return recordsIn(stateDir).flatMap(({ record: { url, owner } }) =>
    url === undefined || ownerState(owner) === "gone" ? [] : [url],
  );
}

function recordsIn(stateDir: string): { file: string; record: GatewayRecord }[] {
  const directory = join(stateDir, "gateway");
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    return [];
  }
  return names
    .filter((name) => name.endsWith(".json"))
    .flatMap((name) => {
      const file = join(directory, name);
      const record = readRecord(readJsonFileNow(file, MOST_BYTES));
      return record === undefined ? [] : [{ file, record }];
    });
}

/**
 * Whether the process with this id is the gateway for sure: on this machine, in this container, and no later process
 * with the same id. Without that it must not be signalled.
 */
export function isGatewayProcess(
  stateDir: string,
  { config, pid }: Pick<RunningGateway, "config" | "pid">,
): boolean {
  const found = readRecord(readJsonFileNow(gatewayFile(stateDir, config, "json"), MOST_BYTES));
  return found?.pid === pid && isOwner(found.owner, pid);
}

type GatewayRecord = RunningGateway & { owner: string };

function readRecord(value: unknown): GatewayRecord | undefined {
  const record = (value ?? {}) as Record<string, unknown>;
  const { pid, since, owner, version, url, config, certificate, channel } = record;
  if (typeof pid !== "number" || typeof since !== "number") return undefined;
  if (typeof owner !== "string" || typeof version !== "string") return undefined;
  const { path, key } = (channel ?? {}) as Record<string, unknown>;
  return {
    pid,
    since,
    owner,
    version,
    ...(typeof url === "string" && { url }),
    ...(typeof config === "string" && { config }),
    ...(typeof certificate === "string" && { certificate }),
    ...(record["background"] === true && { background: true }),
    ...(typeof path === "string" && typeof key === "string" && { channel: { path, key } }),
    ...(record["fingerprint"] !== undefined && { fingerprint: record["fingerprint"] }),
  };
}
