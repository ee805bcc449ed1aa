// What a run means, and whether it is what we said it would be.

const COUNTED = new Set(["SUCCESS", "FAILURE", "WARNING"]);

/**
 * `passed`; `failed`; or `untested` where the suite is content only because the client or server never
 * came near what the scenario is about. `reason` says why it is not the first, in lines.
 */
export function judge({ exitCode, checks, clientErrors, log }) {
  if (checks === undefined) {
    return { state: "failed", passed: 0, total: 0, reason: [`no result: ${lastLine(log)}`] };
  }
  const counted = checks.filter(({ status }) => COUNTED.has(status));
  const bad = counted.filter(({ status }) => status !== "SUCCESS");
  const counts = { passed: counted.length - bad.length, total: counted.length };
  // An error of the client's is no failure by itself: some scenarios want it to refuse.
  const said = clientErrors.trim() === "" ? [] : [`the client said: ${lastLine(clientErrors)}`];
  if (bad.length > 0) return { state: "failed", ...counts, reason: [...describe(bad), ...said] };
  if (exitCode !== 0) return { state: "failed", ...counts, reason: ["the run failed", ...said] };
  // Every scenario has the check of the messages' form beside its own.
  if (counted.every(({ id }) => id.startsWith("wire-schema-"))) {
    const skipped = checks.filter(({ status }) => status === "SKIPPED");
    return { state: "untested", ...counts, reason: describe(skipped) };
  }
  return { state: "passed", ...counts };
}

/**
 * `expected` is `{ scenario: { version: reason } }`. Results in the runs that fail unexpectedly, those
 * that are expected to fail and do not, and the entries that no run of the suite's answers to.
 */
export function compare(outcomes, expected, allRuns) {
  const reasonFor = ({ scenario, version }) => expected[scenario]?.[version];
  const exists = ({ scenario, version }) =>
    allRuns.some((run) => run.scenario === scenario && run.version === version);
  return {
    unexpected: outcomes.filter((one) => one.state !== "passed" && reasonFor(one) === undefined),
    stale: outcomes.filter((one) => one.state === "passed" && reasonFor(one) !== undefined),
    unknown: entriesOf(expected).filter((entry) => !exists(entry)),
  };
}

function entriesOf(expected) {
  return Object.entries(expected).flatMap(([scenario, versions]) =>
    Object.keys(versions).map((version) => ({ scenario, version })),
  );
}

/** One line for each check, however often it was made. */
function describe(checks) {
  const lines = checks.map(
    ({ id, description, errorMessage }) => `${id}: ${firstLine(errorMessage ?? description)}`,
  );
  return [...new Set(lines)];
}

function firstLine(text) {
  return text.split("\n", 1)[0];
}

function lastLine(text) {
  return text.trim().split("\n").at(-1) || "without a word";
}
