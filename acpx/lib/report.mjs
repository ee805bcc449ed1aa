// A run in words.

/** Why a check failed, in lines. */
export function reasonOf(error) {
  const text = error instanceof Error ? error.message : String(error);
  return text
    .trim()
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
}

/** `facts` are `{ date, acpx, acpxNode, plugboard, node, cores }`. */
export function page({ outcomes, facts }) {
  const rows = outcomes.map(({ name, reason }) => [
    name,
    reason === undefined ? "passed" : "failed",
  ]);
  return `# acpx

These checks drive the ACP agent with [acpx](https://github.com/openclaw/acpx), the client that OpenClaw uses, as a user
would: with real processes, a real stdio and a real http server, and a scripted model. \`npm run e2e:acpx\` runs them; see
[acpx/README.md](../acpx/README.md). \`npm run e2e:acpx -- --write\` writes this page.

Last run: ${facts.date}, acpx ${facts.acpx} on Node ${facts.acpxNode}, Plugboard ${facts.plugboard} on Node ${facts.node}, ${facts.cores} cores.

${table(["check", ""], rows)}
`;
}

/** Aligned as the project's formatter does it, so that a page just written passes its check. */
function table(header, rows) {
  const all = [header, ...rows.map((row) => row.map((text) => text.replaceAll("|", "\\|")))];
  const widths = header.map((_, column) => Math.max(3, ...all.map((row) => row[column].length)));
  const line = (row) => `| ${row.map((text, column) => text.padEnd(widths[column])).join(" | ")} |`;
  const [head, ...body] = all;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...body.map(line)].join("\n");
}
