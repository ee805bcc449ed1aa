// Reads the agent of a command that other programs start and that runs for long. Nobody is there to ask, so an untrusted
// file is no error: its servers are shown as untrusted, with what to do about it.

import { plugboardHome } from "../../config/home.ts";
import { parseAgentConfig } from "../../config/parse.ts";
import type { AgentConfig } from "../../model/agent-config.ts";
import { PlugboardError } from "../../model/errors.ts";
import { checkHome } from "../../state/state-directory.ts";
import type { CliContext } from "./context.ts";
import { findSource, loadAgent } from "./open.ts";
import { needsTrust } from "./trust/needs-trust.ts";
import { requireTrust } from "./trust/require-trust.ts";

/** Without a configuration there are no servers: the demo is only for people at a terminal. */
export async function readAgent(context: CliContext): Promise<AgentConfig> {
  const { env, homedir } = context.io;
  checkHome(plugboardHome(env, homedir), env);
  const source = findSource(context);
  const agent = await loadAgent(source, context, () => parseAgentConfig({ servers: {} }));
  if (source.kind !== "file" || !needsTrust(source, context.io)) return agent;
  try {
    await requireTrust(source, agent, context);
    return agent;
  } catch (error) {
    if (!(error instanceof PlugboardError) || error.code !== "UNTRUSTED") throw error;
    const remedy = `${source.path} is not trusted; if you trust it, run in its directory: plugboard trust`;
    // Its servers are listed as untrusted. Its model, system prompt and rules are left out: using them would
    // already be acting on a file that nobody has trusted.
    const { agentId, servers, toolNames, warnings, file } = agent;
    return { agentId, servers, toolNames, warnings, file, untrusted: { remedy } };
  }
}
