// The environment variables that name a proxy. Separate from `proxy.ts`, so that a board without a URL does not
// load the rest of the network code.

import type { Environment } from "../../util/environment.ts";

/** The environment with the configured proxy (`network.proxy`) in place of its own. `NO_PROXY` still applies. */
export function withProxy(env: Environment, proxy: string | undefined): Environment {
  return proxy === undefined ? env : { ...env, https_proxy: proxy, http_proxy: proxy };
}
