// Creates the guarded fetch for one configured server, with its policy and its certificates.

import { PlugboardError } from "../types/errors.ts";
import type { RemoteTarget } from "../types/server-definition.ts";
import type { Clock } from "../../util/clock.ts";
import type { Environment } from "../../util/environment.ts";
import { errorCode } from "../../util/error-code.ts";
import { readRegularFile } from "../../util/regular-file.ts";
import type { TlsMaterial } from "./dispatchers.ts";
import { createFetch, type GuardedFetch } from "./fetch.ts";
import type { NetworkPolicy } from "./policy.ts";

export interface TargetFetchOptions {
  /** `network.allow`: the hosts that the operator allows for all servers. */
  networkAllow: readonly string[];
  /** A session brought the server, so that its own settings cannot be changed. */
  isOfSession: boolean;
  /** The environment with the proxy variables. */
  env: Environment;
  clock: Clock;
}

export async function targetFetch(
  target: RemoteTarget,
  { networkAllow, isOfSession, env, clock }: TargetFetchOptions,
): Promise<GuardedFetch> {
  const tls = target.tls && (await readTls(target.tls));
  const policy = targetPolicy(target, networkAllow, isOfSession);
  return createFetch({ policy, env, clock, tls });
}

export function targetPolicy(
  { allowInsecure, allowPrivate }: RemoteTarget,
  allow: readonly string[],
  isOfSession: boolean,
): NetworkPolicy {
  return { allowInsecure, allowPrivate, allow, isOfSession };
}

function problemOf(code = "unknown error"): string {
  if (code === "ENOTREGULAR") return "is not a file";
  if (code === "ENOENT" || code === "ENOTDIR") return "does not exist";
  return code === "ETOOLARGE" ? "is too large" : `cannot be read (${code})`;
}

async function readTls(files: NonNullable<RemoteTarget["tls"]>): Promise<TlsMaterial> {
  const read = async (path: string | undefined): Promise<string | undefined> => {
    if (!path) return undefined;
    try {
      return await readRegularFile(path);
    } catch (error) {
      throw new PlugboardError(
        "UNRESOLVED_VALUE",
        `the file ${path} (tls) ${problemOf(errorCode(error))}`,
        {
          hint: "correct its path; a relative one is relative to the configuration file",
          cause: error,
          permanent: true,
        },
      );
    }
  };
  const [ca, cert, key] = await Promise.all([files.ca, files.cert, files.key].map(read));
  return { ca, cert, key };
}
