// The schema of the `secrets` block: what each provider of secrets is told. A provider's settings are values that are no
// secrets themselves.

import type { SecretSettings } from "../../model/secret-provider.ts";
import { isAbsolute } from "node:path";
import { anyObject, listOf, mapOf, object, oneOf, type Schema, text, verified } from "./schema.ts";

const helper = object({
  command: verified((command) =>
    isAbsolute(command)
      ? undefined
      : "is not an absolute path; expected one, so that nothing else on PATH can take its place",
  ),
  args: listOf(text()).optional(),
  protocol: oneOf(["argument", "json"]).optional(),
});

export const secretsSchema: Schema<SecretSettings> = object({
  env: object({}).optional(),
  file: object({ directory: text().optional() }).optional(),
  exec: mapOf(helper, helperNameProblem).optional(),
  gcp: anyObject().optional(),
  aws: anyObject().optional(),
  vault: anyObject().optional(),
  azure: anyObject().optional(),
  op: object({ account: text().optional() }).optional(),
  keyring: object({ service: text().optional() }).optional(),
});

/** It is a part of a reference. */
function helperNameProblem(name: string): string | undefined {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)
    ? undefined
    : "is not a name for a helper; expected letters, digits, dots and hyphens";
}
