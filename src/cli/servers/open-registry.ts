// The registry that a command asks: which one it is, and how it is reached.

import { plainHost } from "../../core/net/host-list.ts";
import { withProxy } from "../../core/net/proxy-env.ts";
import { OFFICIAL_REGISTRY, RegistryClient } from "../../install/registry/client.ts";
import { loadConfig } from "../../core/config/load.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { type ServerFile, trustedSettings } from "./server-file.ts";

/** `use` gets the registry that `--registry`, the environment or the file names, or the official one. */
export async function withRegistry<Result>(
  flag: string | undefined,
  file: ServerFile,
  context: CliContext,
  use: (registry: RegistryClient) => Promise<Result>,
): Promise<Result> {
  const { io, clock, signal } = context;
  const settings = await trustedSettings(file, context);
  const named = flag || io.env["PLUGBOARD_REGISTRY"];
  if (!named && settings === undefined) await tellUnused(file, context);
  const registry = new RegistryClient({
    url: named || settings?.registry || OFFICIAL_REGISTRY,
    networkAllow: settings?.networkAllow ?? [],
    env: withProxy(io.env, settings?.networkProxy),
    clock,
    signal,
  });
  try {
    return await use(registry);
  } finally {
    await registry.close();
  }
}

/** A file that came with a directory must not decide where servers come from. */
async function tellUnused({ path, trust }: ServerFile, context: CliContext): Promise<void> {
  if (trust.kind !== "untrusted") return;
  const { io, options, screen } = context;
  const { registry } = await loadConfig(path, options.agent, { cwd: io.cwd, homedir: io.homedir });
  if (registry === undefined) return;
  const host = plainHost(new URL(registry).hostname);
  screen.note(
    `${visible(path)} is not trusted, so its registry (${host}) is not asked, but the official one`,
  );
}
