// The packages of the clouds, which are optional, and the command-line tools that stand in for them: what a tool answers, why
// it failed, and what to install where neither is there.

import type { PlugboardError } from "../model/errors.ts";
import {
  type ProgramOptions,
  type ProviderSurroundings,
  type RunProgram,
  secretUnavailable,
} from "../model/secret-provider.ts";
import { hasErrorCode } from "../util/error-code.ts";
import { said } from "./failure.ts";
import { requireOutput } from "./program-output.ts";

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

export interface ToolOptions extends ProgramOptions {
  /** The words on stderr by which a failure is known that does not pass. The exit codes do not tell them apart. */
  permanent: RegExp;
}

/** What the tool wrote to stdout. Undefined if there is no such program. */
export async function outputOf(
  run: RunProgram,
  [program = "", ...args]: readonly string[],
  { permanent, ...options }: ToolOptions,
): Promise<string | undefined> {
  const result = await run(program, args, options);
  if (result.kind === "not-found") return undefined;
  const output = requireOutput(result, {
    program,
    notFound: "",
    failed: ({ stderr }) =>
      said(`${program} failed`, stderr, { permanent: permanent.test(stderr) }),
  });
  return output.toString("utf8");
}

export function notInstalled({ name, install }: OptionalPackage, tool: string): PlugboardError {
  return secretUnavailable(
    `the package ${name} is not installed, and there is no ${tool} on the PATH`,
    { hint: `install it (with -g if Plugboard was installed with -g): npm install ${install}` },
  );
}
