// A note about the gateway that runs for a configuration, so that other commands find it.

import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { readJsonFile, writeJsonFile } from "./json-file.ts";
import { ownerName, ownerState } from "./process-owner.ts";

export interface RunningGateway {
  pid: number;
  /** Where this machine reaches it, without a path. */
  url: string;
  /** Milliseconds since the epoch. */
  since: number;
  /** The configuration file, if there is one. */
  config?: string;
  /** The file with its certificate, if it speaks TLS. */
  certificate?: string;
}

const MOST_BYTES = 64 * 1024;

/** A file for the gateway of a configuration: two of them would each start its servers. */
export function gatewayFile(
  stateDir: string,
  config: string | undefined,
  kind: "lock" | "json",
): string {
  const name = createHash("sha256")
    .update(config ?? "none")
    .digest("hex")
    .slice(0, 16);
  return join(stateDir, "gateway", `${name}.${kind}`);
}

/** Returns a function that removes the note. */
export async function noteGateway(
  stateDir: string,
  gateway: RunningGateway,
): Promise<() => Promise<void>> {
  const file = gatewayFile(stateDir, gateway.config, "json");
  await writeJsonFile(file, { ...gateway, owner: ownerName() });
  return () => rm(file, { force: true });
}

/** Undefined if none runs. The note of one that has ended without removing it is removed. */
export async function findGateway(
  stateDir: string,
  config: string | undefined,
): Promise<RunningGateway | undefined> {
  const file = gatewayFile(stateDir, config, "json");
  const found = readNote(await readJsonFile(file, MOST_BYTES));
  if (found === undefined) return undefined;
  const { owner, ...gateway } = found;
  if (ownerState(owner) !== "gone") return gateway;
  await rm(file, { force: true });
  return undefined;
}

function readNote(value: unknown): (RunningGateway & { owner: string }) | undefined {
  const { pid, url, since, config, certificate, owner } = (value ?? {}) as Record<string, unknown>;
  const isWhole =
    typeof pid === "number" &&
    typeof url === "string" &&
    typeof since === "number" &&
    typeof owner === "string";
  if (!isWhole) return undefined;
  return {
    pid,
    url,
    since,
    owner,
    ...(typeof config === "string" && { config }),
    ...(typeof certificate === "string" && { certificate }),
  };
}
