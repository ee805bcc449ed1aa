// The guarded way to one configured server: its policy, its certificates.

import { readFile } from "node:fs/promises";
import { PlugboardError } from "../model/errors.ts";
import type { RemoteEndpoint } from "../model/server-definition.ts";
import type { Clock } from "../util/clock.ts";
import type { TlsMaterial } from "./dispatchers.ts";
import { createFetch, type GuardedFetch } from "./fetch.ts";
import type { NetworkPolicy } from "./policy.ts";
import type { ProxyEnv } from "./proxy.ts";

export interface EndpointFetchOptions {
  /** What the operator allows for all servers. */
  networkAllow: readonly string[];
  /** Where the proxy variables come from. */
  env: ProxyEnv;
  clock: Clock;
}

export async function endpointFetch(
  endpoint: RemoteEndpoint,
  { networkAllow, env, clock }: EndpointFetchOptions,
): Promise<GuardedFetch> {
  const { tls } = endpoint;
  return createFetch({
    policy: endpointPolicy(endpoint, networkAllow),
    env,
    clock,
    ...(tls !== undefined && { tls: await readTls(tls) }),
  });
}

export function endpointPolicy(
  { allowInsecure, allowPrivate }: RemoteEndpoint,
  allow: readonly string[],
): NetworkPolicy {
  return { allowInsecure, allowPrivate, allow };
}

async function readTls(files: NonNullable<RemoteEndpoint["tls"]>): Promise<TlsMaterial> {
  const read = async (path: string): Promise<string> => {
    try {
      return await readFile(path, "utf8");
    } catch (error) {
      throw new PlugboardError("UNRESOLVED_VALUE", `the file ${path} (tls) cannot be read`, {
        cause: error,
        permanent: true,
      });
    }
  };
  return {
    ...(files.ca && { ca: await read(files.ca) }),
    ...(files.cert && { cert: await read(files.cert) }),
    ...(files.key && { key: await read(files.key) }),
  };
}
