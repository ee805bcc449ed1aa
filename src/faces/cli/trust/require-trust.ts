// Refuses a configuration file found in the working directory until a person has approved what it starts.

import { basename, dirname } from "node:path";
import type { ConfigSource } from "../../../config/find.ts";
import { plugboardHome } from "../../../config/home.ts";
import {
  judgeTrust,
  type Launches,
  readLaunches,
  type Trust,
} from "../../../config/trust/trust.ts";
import { TrustStore } from "../../../config/trust/trust-store.ts";
import type { AgentConfig } from "../../../model/agent-config.ts";
import { PlugboardError } from "../../../model/errors.ts";
import { otherWriters } from "../../../state/state-directory.ts";
import type { CliContext } from "../context.ts";
import type { CliIo } from "../io.ts";
import { changeLines, launchLines } from "./view.ts";
import { shellQuoted } from "../../../util/text.ts";
import { visible } from "../../../util/visible.ts";

type FoundFile = Pick<Extract<ConfigSource, { kind: "file" }>, "path" | "from">;

export interface Judgement {
  store: TrustStore;
  launches: Launches;
  trust: Trust;
}

/** `loadConfig` must have accepted the file. */
export async function judgeFile(
  file: string,
  { env, homedir }: Pick<CliIo, "env" | "homedir">,
): Promise<Judgement> {
  const store = new TrustStore(plugboardHome(env, homedir));
  const launches = await readLaunches(file);
  const record = await store.find(file);
  return { store, launches, trust: judgeTrust(record?.approved, launches.all) };
}

/**
 * Rejects with UNTRUSTED and a message that shows what the file would start. `agent` was loaded from it; `argv` is
 * the command line, which is offered again.
 */
export async function requireTrust(
  { path: file, from }: FoundFile,
  agent: AgentConfig,
  { io, argv }: Pick<CliContext, "io" | "argv">,
): Promise<void> {
  const { launches, trust } = await judgeFile(file, io);
  if (!launches.isSource(agent)) {
    throw new PlugboardError("UNTRUSTED", `${visible(file)} changed while it was being read`, {
      hint: "try again",
    });
  }
  if (trust.kind === "trusted") return;
  const writers = from === "home" ? otherWriters(file, io.env) : undefined;
  const lines = [
    `${headline(file, trust)}, so nothing was started.`,
    ...(writers ? ["It needs your trust, because other users can write to it."] : []),
    ...trustDetails(launches, trust),
  ];
  const path = dirname(file) === io.cwd ? basename(file) : file;
  const once = ["--config", path, ...argv].map(shellQuoted);
  throw new PlugboardError("UNTRUSTED", lines.join("\n"), {
    hint: `${writers ? `to make it yours alone:\n  ${writers.remedy}\n` : ""}if you trust it:\n  plugboard trust\nto use it just once:\n  plugboard ${once.join(" ")}`,
  });
}

export function headline(file: string, trust: Trust): string {
  const why = trust.kind === "changed" ? "has changed since it was trusted" : "is not trusted yet";
  return `${visible(file)} ${why}`;
}

/** What there is to decide about: the changes since it was trusted, and everything it would start. */
export function trustDetails({ all }: Launches, trust: Trust): string[] {
  return [...changeLines(trust), "It would start or use:", ...launchLines(all)];
}
