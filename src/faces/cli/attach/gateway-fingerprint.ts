// Says what a gateway runs with, for the note by which other commands decide whether to attach to it.

import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { type Fingerprint, hashOfFile, takeFingerprint } from "../../../config/fingerprint.ts";
import { loadGateway } from "../../../config/gateway.ts";
import type { ConfigSource } from "../../../config/find.ts";
import { digestOf } from "../../../config/trust/trust-store.ts";
import type { AgentConfig } from "../../../model/agent-config.ts";
import type { CliContext } from "../context.ts";
import { judgeFile } from "../trust/require-trust.ts";

/** A file that changes more often than this while it is read is being written. */
const MOST_READS = 3;

/**
 * Undefined without a file, and for a file that is being written. `applied` is the hash of the file that the gateway
 * runs with, if that need not be the one on disk.
 */
export async function gatewayFingerprint(
  source: ConfigSource,
  readAgent: (id: string) => Promise<AgentConfig>,
  { io }: Pick<CliContext, "io">,
  applied?: string,
): Promise<Fingerprint | undefined> {
  if (source.kind !== "file") return undefined;
  for (let reads = 0; reads < MOST_READS; reads += 1) {
    const file = hashOfFile(await readFile(source.path));
    if (applied !== undefined && applied !== file) return undefined;
    const { agentIds } = await loadGateway(source.path, io);
    const agents = await Promise.all(agentIds.map(readAgent));
    const trust = await approvedBy(source.path, { io });
    // All of it must be from the same bytes.
    if (hashOfFile(await readFile(source.path)) !== file) continue;
    const salt = randomBytes(16).toString("hex");
    const fingerprint = takeFingerprint(agents, { file, salt, env: io.env, cwd: io.cwd });
    return { ...fingerprint, ...(trust !== undefined && { trust }) };
  }
  return undefined;
}

/** The digest of the trust record that approves what the file starts. */
async function approvedBy(
  file: string,
  { io }: Pick<CliContext, "io">,
): Promise<string | undefined> {
  const { store, trust } = await judgeFile(file, io);
  const record = trust.kind === "trusted" ? await store.find(file) : undefined;
  return record && digestOf(record);
}
