// A run in words: a table for the terminal, and one for the docs.

import { table } from "../../lib/evidence.mjs";

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

/** What a run writes into docs/evidence.md. `head` is its first line. */
export function evidence({ outcomes, expected, required, head }) {
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
  return `${head}

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
