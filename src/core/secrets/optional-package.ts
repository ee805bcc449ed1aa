// The packages of the clouds, which are optional: loads them, and says what to install.

import type { PlugboardError } from "../types/errors.ts";
import { type ProviderSurroundings, secretUnavailable } from "../types/secret-provider.ts";
import { hasErrorCode } from "../../util/error-code.ts";

/** A package that is loaded if it is installed. `install` is what npm is told. */
export interface OptionalPackage {
  name: string;
  install: string;
}

/** Undefined if the package is not installed. A package written in CommonJS has its exports in `default`. */
export async function loadOptional(
  { name }: OptionalPackage,
  importOptional: ProviderSurroundings["importOptional"],
): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const loaded = (await importOptional(name)) as Readonly<Record<string, unknown>>;
    const inner = loaded["default"];
    return typeof inner === "object" && inner !== null ? { ...inner, ...loaded } : loaded;
  } catch (error) {
    if (hasErrorCode(error, "ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND")) return undefined;
    throw error;
  }
}

export function notInstalled(missing: OptionalPackage, tool: string): PlugboardError {
  return secretUnavailable(
    `the package ${missing.name} is not installed, and there is no ${tool} on the PATH`,
    { hint: installHint(missing) },
  );
}

export function installHint({ install }: OptionalPackage): string {
  return `install it (with -g if Plugboard was installed with -g): npm install ${install}`;
}

/** The package is there, and does not have what is used of it. */
export function unusableVersion({ name, install }: OptionalPackage): PlugboardError {
  return secretUnavailable(`the installed version of ${name} does not work with Plugboard`, {
    hint: `npm install ${install}`,
  });
}
