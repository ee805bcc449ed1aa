// Findings become problems with a place, and problems become the one error that lists them all.

import type { ConfigProblem } from "../model/config-problem.ts";
import { PlugboardError } from "../model/errors.ts";
import type { Finding, Place } from "./finding.ts";
import { formatPath, quote } from "./quote.ts";

/** Where a configuration came from; code has neither file nor lines. */
export interface Source {
  file?: string;
  locate?: (finding: Finding) => Place;
}

/** Past this many the message says how many more there are; `problems` always has all. */
const MOST_LISTED = 50;

export function toProblems(findings: readonly Finding[], source: Source): ConfigProblem[] {
  const problems = findings.map((finding): ConfigProblem => {
    const { path, message, suggestion } = finding;
    return {
      ...(source.file !== undefined && { file: source.file }),
      ...source.locate?.(finding),
      path: formatPath(path),
      message,
      ...(suggestion !== undefined && { suggestion }),
    };
  });
  return problems.toSorted(
    (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  );
}

/** `file:line:column  path  what is wrong; what was expected` */
export function formatProblem(problem: ConfigProblem): string {
  const place = [problem.file, problem.line, problem.column].filter((part) => part !== undefined);
  const suggestion =
    problem.suggestion === undefined ? "" : `; did you mean ${quote(problem.suggestion)}?`;
  return [place.join(":"), problem.path, problem.message + suggestion]
    .filter((part) => part !== "")
    .join("  ");
}

export function configInvalid(problems: readonly ConfigProblem[], cause?: unknown): PlugboardError {
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  const lines = problems.slice(0, MOST_LISTED).map((problem) => `  ${formatProblem(problem)}`);
  if (problems.length > MOST_LISTED) lines.push(`  … and ${problems.length - MOST_LISTED} more`);
  return new PlugboardError(
    "CONFIG_INVALID",
    `The configuration has ${count}:\n${lines.join("\n")}`,
    { problems, permanent: true, ...(cause !== undefined && { cause }) },
  );
}

export function throwIfAny(findings: readonly Finding[], source: Source): void {
  if (findings.length > 0) throw configInvalid(toProblems(findings, source));
}
