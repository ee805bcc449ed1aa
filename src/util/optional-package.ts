// Packages that are optional: loads them, and says what to install.

import { hasErrorCode } from "./error-code.ts";

/** A package that is loaded if it is installed. `install` is what npm is told. */
export interface OptionalPackage {
  name: string;
  install: string;
}

/** Undefined if the package is not installed. A package written in CommonJS has its exports in `default`. */
export async function loadOptional(
  { name }: OptionalPackage,
  importOptional: (name: string) => Promise<unknown>,
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

export function installHint({ install }: OptionalPackage): string {
  return `install it (with -g if Plugboard was installed with -g): npm install ${install}`;
}
