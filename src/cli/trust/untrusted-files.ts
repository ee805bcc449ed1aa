// The servers of files that nobody has trusted: they are left out of what is used, and added to what is shown.

import { type LoadConfigOptions, loadConfigWith } from "../../core/config/load.ts";
import type { AgentConfig, UntrustedFile } from "../../core/types/agent-config.ts";
import type { ServerDefinition } from "../../core/types/server-definition.ts";

/** Says what to do about a file that nobody has trusted. */
export function remedyFor(file: string): string {
  return `${file} is not trusted; if you trust it, run in its directory: plugboard trust`;
}

/** What of one file waits for approval. */
export interface Waiting {
  /** The servers that are not used. */
  names: "all" | ReadonlySet<string>;
  /** What is used in place of servers that wait: these were approved before. */
  held?: readonly ServerDefinition[] | undefined;
}

/** `loadConfig` without the servers that wait. They are in `untrusted`. */
export async function loadUsed(
  path: string,
  agentId: string | undefined,
  options: LoadConfigOptions,
  waitingIn: (file: string | undefined) => Waiting,
): Promise<AgentConfig> {
  const left: UntrustedFile[] = [];
  const change = (agent: AgentConfig): AgentConfig => {
    const { names, held = [] } = waitingIn(agent.file);
    const waits = ({ name }: ServerDefinition): boolean => names === "all" || names.has(name);
    const servers = agent.servers.filter(waits);
    if (servers.length === 0) return agent;
    const { file = "" } = agent;
    const remedy = `${file} has changed since you trusted it; to look at the change, and to approve it, run in its directory: plugboard trust`;
    left.push({ file, remedy, servers, inUse: true });
    const before = new Map(held.map((each) => [each.name, each]));
    return {
      ...agent,
      servers: agent.servers.flatMap((each) =>
        waits(each) ? (before.get(each.name) ?? []) : each,
      ),
      // Rules about them are no mistake.
      leftOut: [...servers, ...(agent.leftOut ?? [])].filter(({ name }) => !before.has(name)),
    };
  };
  return withUntrusted(await loadConfigWith(change, path, agentId, options), left);
}

/** A server of the agent stays in use, whatever a file has under its name. */
export function withUntrusted(agent: AgentConfig, files: readonly UntrustedFile[]): AgentConfig {
  if (files.length === 0) return agent;
  const used = new Set(agent.servers.map(({ name }) => name));
  const { file: own } = agent;
  const isOnly =
    files.every(({ file }) => file === own) && agent.servers.every((each) => !each.from);
  const placed = (servers: readonly ServerDefinition[], file: string): ServerDefinition[] =>
    isOnly ? [...servers] : servers.map((each) => ({ from: { file }, ...each }));
  const untrusted = files.map(({ servers, ...rest }) => ({
    ...rest,
    servers: placed(servers, rest.file).filter(({ name }) => !used.has(name)),
  }));
  const shown = untrusted.filter(({ inUse, servers }) => !inUse || servers.length > 0);
  return {
    ...agent,
    servers: own === undefined ? agent.servers : placed(agent.servers, own),
    ...(shown.length > 0 && { untrusted: shown }),
  };
}
