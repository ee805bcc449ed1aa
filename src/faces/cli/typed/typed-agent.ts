// The agent of a command that uses a typed server: that server alone, under the guard of the configuration in use.

import { type ConfigSource, findConfig } from "../../../config/find.ts";
import { plugboardHome } from "../../../config/home.ts";
import { loadConfig } from "../../../config/load.ts";
import { parseAgentConfig } from "../../../config/parse.ts";
import type { AgentConfig } from "../../../model/agent-config.ts";
import { PlugboardError } from "../../../model/errors.ts";
import type { ServerTarget } from "../../../model/server-definition.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import { visible } from "../../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { readTypedServer } from "../read-server.ts";
import { judgeFile } from "../trust/require-trust.ts";
import { isLocal, otherName, typedName } from "./typed-name.ts";
import type { TypedServer } from "../typed-server.ts";

/**
 * The configuration whose guard applies. One in the working directory that nobody has trusted does not: it came with the
 * directory, and must not take the place of yours.
 */
export async function typedSource(
  source: ConfigSource,
  { io, options, logger }: CliContext,
): Promise<ConfigSource> {
  if (source.kind !== "file" || source.from !== "directory") return source;
  const { env, cwd, homedir } = io;
  const own = findConfig({ env, cwd: plugboardHome(env, homedir), homedir });
  const isTrusted = await loadConfig(source.path, options.agent, { cwd, homedir }).then(
    async (agent) => {
      const { store, launches, trust } = await judgeFile(source.path, io);
      if (trust.kind !== "trusted" || !launches.isSource(agent)) return false;
      // What starts nothing needs no approval, but has not been looked at either.
      return own.kind === "demo" || (await store.find(source.path)) !== undefined;
    },
    (error: unknown) => {
      if (error instanceof PlugboardError) return false;
      throw error;
    },
  );
  if (isTrusted) return source;
  logger.warn(
    `${visible(source.path)} is not trusted, so its rules do not apply; to look at it: plugboard trust`,
  );
  return own;
}

/** `settings` are what the configuration says; its servers and native tools are left out. Throws INVALID_ARGUMENTS. */
export function typedAgent(
  typed: TypedServer,
  settings: AgentConfig,
  { io, argv }: Pick<CliContext, "io" | "argv">,
): AgentConfig {
  const config = readTypedServer(typed, argv);
  // The directory belongs to what is pinned, unless the words mean the same everywhere.
  const baseDir = isLocal(config) ? io.cwd : undefined;
  const parsed = (name: string): AgentConfig =>
    parseAgentConfig({ servers: { [name]: config } }, baseDir);
  const first = typedName(config, io.cwd);
  const named = parsed(first);
  const target = named.servers[0]?.target;
  const configured = settings.servers.find(({ name }) => name === first);
  // Rules go by names: those of another server are not meant for this one.
  const isOther = configured !== undefined && !isSame(configured.target, target);
  const { servers, warnings } = isOther ? parsed(otherName(first, target)) : named;
  const others = [...settings.servers, ...(settings.leftOut ?? [])];
  return {
    ...settings,
    servers: servers.map((server) => ({ ...server, ...(typed.url && { signInAs: typed.url }) })),
    leftOut: others.filter(({ name }) => name !== servers[0]?.name),
    nativeModules: undefined,
    keepAlive: undefined,
    // What is typed is meant in the directory in which it is typed.
    workspace: undefined,
    startupWait: undefined,
    warnings,
    notes: undefined,
  };
}

function isSame(one: ServerTarget, other: ServerTarget | undefined): boolean {
  return canonicalJson({ ...one, baseDir: "" }) === canonicalJson({ ...other, baseDir: "" });
}
