// Compares what a configuration file would start with what a person has approved.

import type { FileSource } from "../../core/config/find.ts";
import { plugboardHome } from "../../core/config/home.ts";
import {
  judgeTrust,
  type Launches,
  readLaunches,
  type Trust,
  waitingServers,
} from "../../core/config/trust/trust.ts";
import { type TrustRecord, TrustStore } from "../../core/config/trust/trust-store.ts";
import { DEFAULT_AGENT } from "../../core/types/agent-config.ts";
import type { CliIo } from "../io.ts";

export interface Judgement {
  store: TrustStore;
  launches: Launches;
  trust: Trust;
  /** The last approval of the file, if there is one. */
  record: TrustRecord | undefined;
}

/**
 * `loadConfig` must have accepted the file. `text` is what was read from it already. A file that lies over another one
 * decides about the servers of that one too: it can hide them, name their tools and add rules. So it has to be approved
 * even if it starts nothing.
 */
export async function judgeFile(
  { path, base }: Pick<FileSource, "path" | "base">,
  { env, homedir }: Pick<CliIo, "env" | "homedir">,
  text?: string,
): Promise<Judgement> {
  const store = new TrustStore(plugboardHome(env, homedir));
  const launches = await readLaunches(path, text);
  const record = await store.find(path);
  const trust = judgeTrust(record?.approved, launches.all);
  const isUnseen = base !== undefined && record === undefined && !launches.isEmpty;
  return { store, launches, record, trust: isUnseen ? { kind: "new" } : trust };
}

/** What of the file may not be used for the agent, as `waitingServers` has it. */
export function waitingFor(
  { launches, trust }: Pick<Judgement, "launches" | "trust">,
  agentId: string = DEFAULT_AGENT,
): "all" | ReadonlySet<string> {
  return waitingServers(trust, launches.all, agentId);
}
