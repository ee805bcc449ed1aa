// What a client sends, held against a schema of the configuration: the first mistake is −32602 with its path.

import type { KeyPath } from "../../../config/issue.ts";
import { check, type Schema } from "../../../config/kit.ts";
import { toProblems } from "../../../config/issue.ts";
import { invalidParams } from "../wire/params.ts";

export function checked<Data>(schema: Schema<Data>, value: unknown, path: KeyPath): Data {
  const { issues } = check(schema, value, path);
  const [problem] = toProblems(issues, {});
  if (problem === undefined) return value as Data;
  const { message, suggestion } = problem;
  const meant = suggestion === undefined ? "" : `; did you mean "${suggestion}"?`;
  throw invalidParams(problem.path, `${message}${meant}`);
}
