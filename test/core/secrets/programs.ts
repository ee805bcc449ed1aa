// Fake programs on a PATH of their own, and what a provider of secrets works with.

import { writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { PlugboardError } from "../../../src/core/types/errors.ts";
import type {
  ProviderSurroundings,
  SecretContext,
  SecretReference,
} from "../../../src/core/types/secret-provider.ts";
import { parseReference } from "../../../src/core/config/schema/references.ts";
import { programRunner } from "../../../src/core/secrets/run-program.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { temporaryDirectory } from "../../support/directory.ts";

/** Shell scripts by the names of the programs that they stand for. */
export async function fakePrograms(scripts: Record<string, string>): Promise<string> {
  const directory = temporaryDirectory();
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(join(directory, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  return directory;
}

/** The surroundings of a provider that finds its programs in this directory. */
export function surroundings(
  directory: string,
  more: Partial<ProviderSurroundings> = {},
): ProviderSurroundings {
  const env = { PATH: [directory, "/usr/bin", "/bin"].join(delimiter) };
  return {
    env,
    homedir: directory,
    platform: "linux",
    clock: systemClock,
    run: programRunner({ env, clock: systemClock }),
    fetch: () => Promise.reject(new Error("there is no network here")),
    importOptional: () => Promise.reject(new Error("there are no packages here")),
    expand: async (setting) => setting,
    warn: () => {},
    ...more,
  };
}

export function reference(text: string): SecretReference {
  const found = parseReference(text);
  if (found === undefined) throw new Error(`${text} is not a reference`);
  return found;
}

export function context(): SecretContext {
  return { signal: new AbortController().signal };
}

/** The error of what must fail. */
export async function failureOf(promise: Promise<unknown>): Promise<PlugboardError> {
  return promise.then(
    () => {
      throw new Error("it did not fail");
    },
    (error: PlugboardError) => error,
  );
}
