// The page with the results.

import { outcomeTable } from "../../lib/checks.mjs";

/** `facts` are `{ date, plugboard, node, cores, agents, agentNode, tsagent }`. */
export function page({ outcomes, facts }) {
  return `# Real agents behind the front

\`plugboard acp -- <command …>\` stands between an editor and another ACP agent ([how to use it](front.md)). \`npm run
e2e:agents\` tries it with agents from npm, driven by the ACP SDK's own client; see [checks/agents/README.md](../checks/agents/README.md).
\`npm run e2e:agents -- --write\` writes this page.

Last run: ${facts.date}, ${facts.agents.join(", ")} on Node ${facts.agentNode}, tsagent ${facts.tsagent} and Plugboard ${facts.plugboard} on Node ${facts.node}, ${facts.cores} cores.
No agent has an account: where a check needs a model, the agent asks a scripted one on the same machine.

${outcomeTable(outcomes)}
`;
}
