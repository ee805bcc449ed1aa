// The page in the docs.

import { outcomeTable } from "../../lib/checks.mjs";

/** `facts` are `{ date, acpx, acpxNode, plugboard, node, cores }`. */
export function page({ outcomes, facts }) {
  return `# acpx

These checks drive the ACP agent with [acpx](https://github.com/openclaw/acpx), the client that OpenClaw uses, as a user
would: with real processes, a real stdio and a real http server, and a scripted model. \`npm run e2e:acpx\` runs them; see
[checks/acpx/README.md](../checks/acpx/README.md). \`npm run e2e:acpx -- --write\` writes this page.

Last run: ${facts.date}, acpx ${facts.acpx} on Node ${facts.acpxNode}, Plugboard ${facts.plugboard} on Node ${facts.node}, ${facts.cores} cores.

${outcomeTable(outcomes)}
`;
}
