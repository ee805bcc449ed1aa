// Adds the files that nobody has trusted to an agent: to be shown, and for nothing else.

import type { AgentConfig, UntrustedFile } from "../../core/types/agent-config.ts";
import type { ServerDefinition } from "../../core/types/server-definition.ts";

/** Says what to do about a file that nobody has trusted. */
export function remedyFor(file: string): string {
  return `${file} is not trusted; if you trust it, run in its directory: plugboard trust`;
}

/** A server of the agent stays in use, whatever a file has under its name. */
export function withUntrusted(agent: AgentConfig, files: readonly UntrustedFile[]): AgentConfig {
  const used = new Set(agent.servers.map(({ name }) => name));
  const { file: own } = agent;
  const isOnly = files.every(({ file }) => file === own);
  const placed = (servers: readonly ServerDefinition[], file: string): ServerDefinition[] =>
    isOnly ? [...servers] : servers.map((each) => ({ ...each, from: { file } }));
  return {
    ...agent,
    servers: own === undefined ? agent.servers : placed(agent.servers, own),
    untrusted: files.map(({ file, remedy, servers }) => ({
      file,
      remedy,
      servers: placed(servers, file).filter(({ name }) => !used.has(name)),
    })),
  };
}
