// The results in the page that says how to add the board to a client.

import { outcomeTable } from "../../lib/checks.mjs";

const HEADING = "## Tested with";

/** The page with its last part written anew. `facts` are `{ date, plugboard, node, cores, claude, codex, gemini, clientNode }`. */
export function withResults(page, { outcomes, facts }) {
  const start = page.indexOf(`${HEADING}\n`);
  if (start === -1) throw new Error(`the page has no "${HEADING}"`);
  return `${page.slice(0, start)}${HEADING}

The real clients from npm, without an account, with a board of two servers. \`npm run clients\` runs the checks; see
[checks/clients/README.md](../checks/clients/README.md). \`npm run clients -- --write\` writes this part of the page.

Last run: ${facts.date}, Claude Code ${facts.claude}, Gemini CLI ${facts.gemini}, Codex ${facts.codex} on Node ${facts.clientNode}, Plugboard ${facts.plugboard} on
Node ${facts.node}, ${facts.cores} cores.

${outcomeTable(outcomes)}
`;
}
