// The results in the page that says how to use Plugboard with OpenClaw.

import { outcomeTable } from "../../lib/checks.mjs";

const START = "<!-- results -->";
const END = "<!-- /results -->";

/** The page with what stands between the two marks written anew. `facts` are `{ date, plugboard, node, cores, memory, openclaw, openclawNode, acpx }`. */
export function withResults(page, { outcomes, facts }) {
  const start = page.indexOf(START);
  const end = page.indexOf(END);
  if (start === -1 || end < start) throw new Error(`the page has no ${START} … ${END}`);
  const figures = outcomes.filter(({ note }) => note !== undefined).map(({ note }) => `- ${note}`);
  return `${page.slice(0, start)}${START}

\`npm run e2e:openclaw\` runs the real OpenClaw from npm with a scripted model; see
[checks/openclaw/README.md](../checks/openclaw/README.md). \`npm run e2e:openclaw -- --write\` writes this part of the page.

Last run: ${facts.date}, OpenClaw ${facts.openclaw} and acpx ${facts.acpx} on Node ${facts.openclawNode}, Plugboard ${facts.plugboard} on Node ${facts.node}, ${facts.cores} cores, ${facts.memory} GB of memory.

${outcomeTable(outcomes)}

${figures.length > 0 ? `Figures of that run:\n\n${figures.join("\n")}\n\n` : ""}${page.slice(end)}`;
}
