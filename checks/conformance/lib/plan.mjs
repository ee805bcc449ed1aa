// Which scenario runs at which version.

/**
 * One run for each revision that a scenario applies to. A scenario that applies to older versions only
 * runs at the newest of those; an extension is on no timeline and runs once, at the suite's choice.
 */
export function planRuns(scenarios, revisions) {
  return scenarios.flatMap(({ name, versions }) => {
    const current = versions.filter((version) => revisions.includes(version));
    const chosen = current.length > 0 ? current : versions.slice(-1);
    return chosen.map((version) => ({ scenario: name, version }));
  });
}

/** Throws where nothing is left: a name that matches nothing is a mistake. */
export function pickRuns(runs, { scenario, version }) {
  const picked = runs.filter(
    (run) =>
      (scenario === undefined || run.scenario === scenario) &&
      (version === undefined || run.version === version),
  );
  if (picked.length > 0) return picked;
  throw new Error(`no scenario ${scenario ?? ""} at ${version ?? "any version"}`);
}
