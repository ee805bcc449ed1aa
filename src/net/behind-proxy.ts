// A configured proxy in place of the environment's. It stands alone, so that a board without a URL need not load
// the rest of the network for it.

type Variables = Readonly<Record<string, string | undefined>>;

/** `NO_PROXY` still holds. */
export function behindProxy(env: Variables, proxy: string | undefined): Variables {
  return proxy === undefined ? env : { ...env, https_proxy: proxy, http_proxy: proxy };
}
