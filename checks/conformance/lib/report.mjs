// A run in words: a table for the terminal, a page for the docs.

/** Below a run that did not pass: why it was expected, or else every check that says so. */
export function textTable(outcomes, expected) {
  const width = Math.max(...outcomes.map(({ scenario }) => scenario.length));
  return outcomes
    .map((outcome) => {
      const { scenario, version, state, reason } = outcome;
      const head = `  ${scenario.padEnd(width)}  ${version.padEnd(10)}  ${cell(outcome)}`;
      if (state === "passed") return `${head}\n`;
      const known = expected[scenario]?.[version];
      if (known !== undefined) return `${head} (expected)\n      ${known}\n`;
      return `${head}\n${reason.map((line) => `      ${line}\n`).join("")}`;
    })
    .join("");
}

export function totals(outcomes, required) {
  const passed = outcomes.filter(({ state }) => state === "passed");
  const lines = Object.entries(required).map(([revision, names]) => {
    const met = passed.filter((one) => one.version === revision && names.includes(one.scenario));
    return { what: `required for ${revision}`, passed: met.length, total: names.length };
  });
  return [...lines, { what: "all runs", passed: passed.length, total: outcomes.length }];
}

const INTRODUCTION = `# Conformance

This page shows how Plugboard does in the official suite of the Model Context Protocol, as a client and as a server.
\`npm run conformance:client\` and \`npm run conformance:server\` run the suite and fail if a scenario has another result
than expected; see [checks/conformance/README.md](../checks/conformance/README.md). With \`-- --write\` they write their part of this page.

\`n/n\` counts the suite's checks. **Bold** scenarios are required of that revision; the others are optional or were added
to the suite later. "Other" is an older revision that the scenario is written for, or an extension. "untested" means that
the suite found no fault because the feature was never used.
`;

const HEADINGS = { client: "## As a client", server: "## As a server, through the gateway" };

/** The page with the part about `role` replaced; `before` is the page as it was, and may be empty. */
export function page(before, role, report) {
  const parts = Object.entries(HEADINGS).map(([name, heading]) =>
    name === role ? `${heading}\n\n${part(report)}` : partOf(before, heading),
  );
  return [INTRODUCTION, ...parts].filter((one) => one !== "").join("\n");
}

/** The part with its heading, up to the next one; empty where the page has none. */
function partOf(text, heading) {
  const start = text.indexOf(`${heading}\n`);
  if (start === -1) return "";
  const rest = text.slice(start + heading.length);
  const end = rest.search(/^## /m);
  const body = end === -1 ? rest : rest.slice(0, end);
  return `${heading}${body.trimEnd()}\n`;
}

/** `facts` are `{ date, suite, plugboard, node, cores }`. */
function part({ outcomes, expected, required, facts }) {
  const revisions = Object.keys(required);
  const sums = totals(outcomes, required).map(({ what, passed, total }) => [
    what,
    `${passed} of ${total}`,
  ]);
  const failures = outcomes
    .filter(({ state }) => state !== "passed")
    .map(({ scenario, version, state, reason }) => [
      `\`${scenario}\``,
      version,
      state,
      expected[scenario]?.[version] ?? `unexpected: ${reason.join("; ")}`,
    ]);
  return `Last run: ${facts.date}, suite \`@modelcontextprotocol/conformance\` ${facts.suite}, Plugboard ${facts.plugboard} on
Node ${facts.node}, ${facts.cores} cores.

${table(["", "passed"], sums)}

${table(["scenario", ...revisions, "other"], scenarioRows(outcomes, required))}

What does not pass:

${failures.length === 0 ? "Nothing." : table(["scenario", "version", "", "why"], failures)}
`;
}

function scenarioRows(outcomes, required) {
  const revisions = Object.keys(required);
  const names = [...new Set(outcomes.map(({ scenario }) => scenario))];
  return names.map((name) => {
    const own = outcomes.filter(({ scenario }) => scenario === name);
    const cells = revisions.map((revision) => {
      const outcome = own.find(({ version }) => version === revision);
      if (outcome === undefined) return "–";
      const text = cell(outcome);
      return required[revision].includes(name) ? `**${text}**` : text;
    });
    const other = own.find(({ version }) => !revisions.includes(version));
    return [
      `\`${name}\``,
      ...cells,
      other === undefined ? "–" : `${other.version}: ${cell(other)}`,
    ];
  });
}

function cell({ state, passed, total }) {
  return state === "untested" ? "untested" : `${state} ${passed}/${total}`;
}

/** Aligned as the project's formatter does it, so that a page just written passes its check. */
function table(header, rows) {
  const cells = [header, ...rows].map((row) => row.map(escape));
  const widths = header.map((_, column) => Math.max(3, ...cells.map((row) => row[column].length)));
  const line = (row) => `| ${row.map((text, column) => text.padEnd(widths[column])).join(" | ")} |`;
  const [head, ...body] = cells;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...body.map(line)].join("\n");
}

function escape(text) {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}
