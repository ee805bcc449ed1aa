// The agent of a command that uses a typed server: that server alone, under the guard of the configuration in use.

import { parseAgentConfig } from "../../core/config/parse.ts";
import type { AgentConfig } from "../../core/types/agent-config.ts";
import type { ServerTarget } from "../../core/types/server-definition.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import type { CliContext } from "../context.ts";
import { readTypedServer } from "../read-server.ts";
import { needsWorkingDirectory, otherName, typedName } from "./typed-name.ts";
import type { TypedServer } from "../typed-server.ts";

/** `settings` are what the configuration says; its servers and native tools are left out. Throws INVALID_ARGUMENTS. */
export function typedAgent(
  typed: TypedServer,
  settings: AgentConfig,
  { io, argv }: Pick<CliContext, "io" | "argv">,
): AgentConfig {
  const config = typed.embedded?.server ?? readTypedServer(typed, argv);
  // The directory belongs to what is pinned, unless the words mean the same everywhere.
  const baseDir = needsWorkingDirectory(config) ? io.cwd : undefined;
  const parsed = (name: string): AgentConfig =>
    parseAgentConfig({ servers: { [name]: config } }, baseDir);
  const first = typed.embedded?.name ?? typedName(config, io.cwd);
  const named = parsed(first);
  const target = named.servers[0]?.target;
  const configured = settings.servers.find(({ name }) => name === first);
  // Rules go by names: those of another server are not meant for this one.
  const isOther = configured !== undefined && !isSame(configured.target, target);
  const { servers, warnings } = isOther ? parsed(otherName(first, target)) : named;
  const others = [...settings.servers, ...(settings.leftOut ?? [])];
  return {
    ...settings,
    servers: servers.map((server) => ({ ...server, ...(config.url && { signInAs: config.url }) })),
    leftOut: others.filter(({ name }) => name !== servers[0]?.name),
    nativeModules: undefined,
    keepAlive: undefined,
    // A command that the user types runs in the directory in which it is typed.
    workspace: undefined,
    startupWait: undefined,
    warnings,
    notes: undefined,
  };
}

function isSame(one: ServerTarget, other: ServerTarget | undefined): boolean {
  return canonicalJson({ ...one, baseDir: "" }) === canonicalJson({ ...other, baseDir: "" });
}
