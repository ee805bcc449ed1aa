// The network of secret providers: the guarded fetch, which lets each provider reach exactly the host that its settings
// name, wherever that is, and nothing else that is private.

import type { SecretFetch } from "../types/secret-provider.ts";
import type { GuardedFetch } from "../net/fetch.ts";
import type { Clock } from "../../util/clock.ts";
import type { Environment } from "../../util/environment.ts";

const MAX_BYTES = 1024 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;

export interface SecretNetwork {
  fetch: SecretFetch;
  close: () => Promise<void>;
}

/** `env` has the proxy variables. Connections are kept for each host until `close`. */
export function openSecretNetwork(env: Environment, clock: Clock): SecretNetwork {
  const open = new Map<string, Promise<GuardedFetch>>();
  const fetchFor = (host: string, ca: string | undefined): Promise<GuardedFetch> => {
    const key = `${host} ${ca ?? ""}`;
    const known = open.get(key) ?? openFetch(host, ca, env, clock);
    open.set(key, known);
    return known;
  };
  return {
    async fetch(url, { ca, ...request }) {
      // The guarded fetch says what is wrong with something that is not a URL.
      const host = URL.canParse(url) ? new URL(url).hostname : "";
      const guarded = await fetchFor(host, ca);
      const bounds = { headersTimeout: HEADERS_TIMEOUT_MS, maxBodyBytes: MAX_BYTES };
      const response = await guarded(url, { ...request, ...bounds });
      const { status, headers } = response;
      return { status, headers, text: () => response.text() };
    },
    async close() {
      const all = [...open.values()];
      open.clear();
      await Promise.all(all.map(async (each) => (await each).close()));
    },
  };
}

/** Loaded with the first request: most configurations need no service. */
async function openFetch(
  host: string,
  ca: string | undefined,
  env: Environment,
  clock: Clock,
): Promise<GuardedFetch> {
  const { createFetch } = await import("../net/fetch.ts");
  const policy = {
    allowInsecure: false,
    allowPrivate: false,
    allow: host ? [`http://${host}`] : [],
  };
  return createFetch({
    policy,
    env: proxiesFor(host, env),
    clock,
    ...(ca !== undefined && { tls: { ca } }),
  });
}

/** The services of the machine itself are behind no proxy, and a proxy would get the credentials that they give. */
export function proxiesFor(host: string, env: Environment): Environment {
  return host.startsWith("169.254.") ? {} : env;
}
