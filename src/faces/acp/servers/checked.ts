// Checks what a client sends against a schema of the configuration: the first mistake is −32602 with its path.

import type { Path } from "../../../config/finding.ts";
import { check, type Schema } from "../../../config/kit.ts";
import { toProblems } from "../../../config/report.ts";
import { invalidParams } from "../wire/params.ts";

export function checked<Data>(schema: Schema<Data>, value: unknown, path: Path): Data {
  const { findings } = check(schema, value, path);
  const [problem] = toProblems(findings, {});
  if (problem === undefined) return value as Data;
  const { message, suggestion } = problem;
  const meant = suggestion === undefined ? "" : `; did you mean "${suggestion}"?`;
  throw invalidParams(problem.path, `${message}${meant}`);
}
