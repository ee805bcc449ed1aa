// Lets nothing of a file start that was found in the working directory and that nobody has approved.

import { plugboardHome } from "../../config/home.ts";
import { judgeTrust, type Launches, readLaunches, type Trust } from "../../config/trust/trust.ts";
import { TrustStore } from "../../config/trust/trust-store.ts";
import type { AgentConfig } from "../../model/agent-config.ts";
import { PlugboardError } from "../../model/errors.ts";
import type { CliIo } from "./io.ts";
import { changeLines, launchLines } from "./trust-view.ts";
import { visible } from "./visible.ts";

export interface Judgement {
  store: TrustStore;
  launches: Launches;
  trust: Trust;
}

/** The file must have passed `loadConfig`. */
export async function judgeFile(
  file: string,
  { env, homedir }: Pick<CliIo, "env" | "homedir">,
): Promise<Judgement> {
  const store = new TrustStore(plugboardHome(env, homedir));
  const launches = await readLaunches(file);
  const record = await store.find(file);
  return { store, launches, trust: judgeTrust(record?.approved, launches.all) };
}

/** Rejects with UNTRUSTED, and shows what the file would start. `agent` is what was loaded from it. */
export async function requireTrust(file: string, agent: AgentConfig, io: CliIo): Promise<void> {
  const { launches, trust } = await judgeFile(file, io);
  if (!launches.isSource(agent)) {
    throw new PlugboardError("UNTRUSTED", `${visible(file)} changed while it was being read`, {
      hint: "try again",
    });
  }
  if (trust.kind === "trusted") return;
  const lines = [
    `${headline(file, trust)}; nothing of it was started.`,
    ...question(launches, trust),
  ];
  throw new PlugboardError("UNTRUSTED", lines.join("\n"), {
    hint: "if you trust it, run: plugboard trust; to use it this once: --config plugboard.json",
  });
}

export function headline(file: string, trust: Trust): string {
  const why = trust.kind === "changed" ? "has changed since it was trusted" : "is not trusted yet";
  return `${visible(file)} ${why}`;
}

/** What there is to decide about. */
export function question({ all }: Launches, trust: Trust): string[] {
  return [...changeLines(trust), "It would start or use:", ...launchLines(all)];
}
