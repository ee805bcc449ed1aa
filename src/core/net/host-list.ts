// A list of hosts and address ranges, as an operator writes it in the configuration or in NO_PROXY.

import ipaddr from "ipaddr.js";
import { type Address, parseAddress } from "./address.ts";

type AddressRange = [Address, number];

export interface HostList {
  hasHost(host: string): boolean;
  hasAddress(address: Address): boolean;
}

const HOST = /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;

/**
 * Entries are hosts (`example.com`, `*.example.com`), addresses and CIDR ranges; anything else is passed to
 * `onInvalid`. `*.example.com` matches every name below example.com, but not example.com itself.
 */
export function hostList(
  entries: readonly string[],
  onInvalid: (entry: string) => void = () => {},
): HostList {
  const hosts = new Set<string>();
  const suffixes: string[] = [];
  const ranges: AddressRange[] = [];
  for (const entry of entries) {
    const range = parseRange(entry.trim());
    const host = plainHost(entry.trim());
    if (range !== undefined) ranges.push(range);
    else if (!HOST.test(host)) onInvalid(entry);
    else if (host.startsWith("*.")) suffixes.push(host.slice(1));
    else hosts.add(host);
  }
  return {
    hasHost: (host) => hosts.has(host) || suffixes.some((suffix) => host.endsWith(suffix)),
    hasAddress: (address) => ranges.some((range) => contains(range, address)),
  };
}

/** Normalises a host for comparison: lower case, without IPv6 brackets and the dot of the DNS root. */
export function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");
}

function parseRange(entry: string): AddressRange | undefined {
  const [base = "", bits] = entry.split("/", 2);
  const address = parseAddress(plainHost(base));
  if (address === undefined) return undefined;
  if (bits === undefined) return [address, address.toByteArray().length * 8];
  return ipaddr.isValidCIDR(entry) ? ipaddr.parseCIDR(entry) : undefined;
}

function contains([base, bits]: AddressRange, address: Address): boolean {
  return base.kind() === address.kind() && address.match([base, bits] as never);
}
