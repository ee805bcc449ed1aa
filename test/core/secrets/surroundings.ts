// What a provider for a cloud works with in tests: the real runner of programs and the real network, an environment and a
// home of its own, and packages that can be missing.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type {
  ProviderSurroundings,
  SecretProvider,
} from "../../../src/core/types/secret-provider.ts";
import { programRunner } from "../../../src/core/secrets/run-program.ts";
import { openSecretNetwork } from "../../../src/core/secrets/secret-fetch.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { reference } from "./programs.ts";

/** The fake `gcloud`, `aws` and `az`. */
const TOOLS = fileURLToPath(new URL("../../fixtures/secrets/bin", import.meta.url));

export interface TestSurroundings extends ProviderSurroundings {
  /** What the operator was told. */
  told: string[];
  /** Removes the home and ends connections. */
  close: () => Promise<void>;
}

export interface SurroundingsOptions {
  env?: Record<string, string>;
  /** No optional package is installed. */
  withoutPackages?: boolean;
  /** The fake tools are on the PATH. */
  withTools?: boolean;
}

export async function openSurroundings({
  env: given = {},
  withoutPackages = false,
  withTools = false,
}: SurroundingsOptions = {}): Promise<TestSurroundings> {
  const homedir = await mkdtemp(join(tmpdir(), "plugboard-secrets-"));
  // The tools are scripts of Node.
  const path = withTools ? [TOOLS, dirname(process.execPath)].join(delimiter) : homedir;
  const env: Record<string, string> = { PATH: path, HOME: homedir, ...given };
  const told: string[] = [];
  const network = openSecretNetwork(env, systemClock);
  return {
    env,
    homedir,
    platform: process.platform,
    clock: systemClock,
    run: programRunner({ env, clock: systemClock }),
    fetch: network.fetch,
    importOptional: async (name) => {
      if (!withoutPackages) return import(/* @vite-ignore */ name);
      throw Object.assign(new Error(`Cannot find package '${name}'`), {
        code: "ERR_MODULE_NOT_FOUND",
      });
    },
    expand: async (setting) => setting.replace(/^\$\{(\w+)\}$/, (_, name) => env[name] ?? ""),
    told,
    warn: (message) => void told.push(message),
    close: async () => {
      await network.close();
      await rm(homedir, { recursive: true });
    },
  };
}

/** What a person is told if a value cannot be had: the message, the hint, and whether it may pass. */
export async function failureOf(
  provider: SecretProvider,
  text: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<{ message: string; hint: string | undefined; permanent: boolean; code: string }> {
  try {
    await provider.resolve(reference(text), { signal });
  } catch (error) {
    const { message, hint, permanent, code } = error as Awaited<ReturnType<typeof failureOf>>;
    return { message, hint, permanent, code };
  }
  throw new Error(`${text} has a value`);
}

export async function valueOf(provider: SecretProvider, text: string): Promise<string> {
  return provider.resolve(reference(text), { signal: new AbortController().signal });
}

/** How many sockets this process has, those of the services included. */
export function openSockets(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap").length;
}
