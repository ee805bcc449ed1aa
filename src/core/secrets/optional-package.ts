// What is said about the packages of the clouds, which are optional.

import type { PlugboardError } from "../types/errors.ts";
import { secretUnavailable } from "../types/secret-provider.ts";
import { installHint, type OptionalPackage } from "../../util/optional-package.ts";

export function notInstalled(missing: OptionalPackage, tool: string): PlugboardError {
  return secretUnavailable(
    `the package ${missing.name} is not installed, and there is no ${tool} on the PATH`,
    { hint: installHint(missing) },
  );
}

/** The package is there, and does not have what is used of it. */
export function unusableVersion({ name, install }: OptionalPackage): PlugboardError {
  return secretUnavailable(`the installed version of ${name} does not work with Plugboard`, {
    hint: `npm install ${install}`,
  });
}
