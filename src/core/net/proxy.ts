// Chooses the proxy for a URL from the usual environment variables.

import { PlugboardError } from "../types/errors.ts";
import { parseAddress } from "./address.ts";
import { hostList, plainHost } from "./host-list.ts";
import { isLocal } from "./policy.ts";
import type { Environment } from "../../util/environment.ts";

/** Undefined for a direct connection. Requests to this machine never use a proxy. */
export function proxyFor(url: URL, env: Environment): URL | undefined {
  const host = plainHost(url.hostname);
  if (isLocal(host)) return undefined;
  const name = url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const variable = [name.toLowerCase(), name, "all_proxy", "ALL_PROXY"].find((each) => env[each]);
  if (variable === undefined || isExempt(url, env["no_proxy"] || env["NO_PROXY"] || "")) {
    return undefined;
  }
  return parseProxy(variable, env[variable] ?? "");
}

function parseProxy(variable: string, value: string): URL {
  const text = value.includes("://") ? value : `http://${value}`;
  // The value may hold a password, so messages do not repeat it.
  if (!URL.canParse(text)) {
    throw new PlugboardError("CONFIG_INVALID", `${variable} is not the URL of a proxy`, {
      hint: `write it like "http://proxy.example:3128", or unset ${variable}`,
      permanent: true,
    });
  }
  const proxy = new URL(text);
  if (proxy.protocol !== "http:" && proxy.protocol !== "https:") {
    throw new PlugboardError("UNSUPPORTED", `${variable} names a ${proxy.protocol} proxy`, {
      hint: "use an http or https proxy",
      permanent: true,
    });
  }
  return proxy;
}

/** `NO_PROXY` has `*`, names (which include everything below them), addresses and ranges; a name may have a port. */
function isExempt(url: URL, noProxy: string): boolean {
  const host = plainHost(url.hostname);
  const address = parseAddress(host);
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const entries = noProxy.toLowerCase().split(/[\s,]+/);
  return entries.some((entry) => {
    if (entry === "*") return true;
    const [, named = entry, onlyPort = port] = /^([^:]+|\[.*\]):(\d+)$/.exec(entry) ?? [];
    if (onlyPort !== port || named === "") return false;
    if (address !== undefined) return hostList([named]).hasAddress(address);
    const domain = plainHost(named).replace(/^\*?\./, "");
    return host === domain || host.endsWith(`.${domain}`);
  });
}
