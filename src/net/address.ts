// What an IP address is good for: a machine on the internet, this machine, a network behind a wall, or nothing.

import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

export interface AddressClass {
  /** `unusable` is no one machine's address, so no setting can allow it. */
  kind: "public" | "loopback" | "private" | "unusable";
  /** As a message says it: "a link-local address". */
  label: string;
}

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Where clouds hand out credentials. Some lie in public ranges, where nothing else would give them away. */
const METADATA = new Set([
  "169.254.169.254",
  "169.254.170.2",
  "169.254.170.23",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "fd00:ec2::254",
  "fd00:ec2::23",
  "fd20:ce::254",
]);

const LABELS: Readonly<Record<string, string>> = {
  private: "a private address",
  uniqueLocal: "a private address",
  deprecatedSiteLocal: "a private address",
  carrierGradeNat: "a carrier's shared address",
  linkLocal: "a link-local address",
};

const UNUSABLE: Readonly<Record<string, string>> = {
  unspecified: "the unspecified address",
  broadcast: "the broadcast address",
  multicast: "a multicast address",
  discard: "a discard address",
};

const RESERVED: AddressClass = { kind: "private", label: "a reserved address" };

/** Of everything in IPv6 only this has been given out as global unicast. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");
const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/** Undefined for anything but an IP address in its usual notation. IPv4-mapped IPv6 comes back as IPv4. */
export function parseAddress(text: string): Address | undefined {
  switch (isIP(text)) {
    case 4:
      return ipaddr.IPv4.parse(text);
    case 6:
      return ipaddr.process(hexadecimal(text));
    default:
      return undefined;
  }
}

/** Without zone and dotted parts: the parser would take `::10.0.0.1` for `::ffff:10.0.0.1`. */
function hexadecimal(text: string): string {
  return new URL(`http://[${text.replace(/%.*$/, "")}]`).hostname.slice(1, -1);
}

export function classifyAddress(address: Address): AddressClass {
  if (METADATA.has(address.toString())) {
    return { kind: "private", label: "a cloud metadata address" };
  }
  const range = address.range();
  if (range === "loopback") return { kind: "loopback", label: "a loopback address" };
  const unusable = UNUSABLE[range];
  if (unusable !== undefined) return { kind: "unusable", label: unusable };
  const label = LABELS[range];
  if (label !== undefined) return { kind: "private", label };
  if (isIPv4(address)) return range === "unicast" ? PUBLIC : RESERVED;
  return address.match(NAT64) ? classifyTranslated(address) : classifyIPv6(address, range);
}

const PUBLIC: AddressClass = { kind: "public", label: "a public address" };

/** 6to4, Teredo and the like carry an IPv4 address to who knows where: reserved, with all that is not unicast. */
function classifyIPv6(address: ipaddr.IPv6, range: string): AddressClass {
  return range === "unicast" && address.match(GLOBAL_UNICAST) ? PUBLIC : RESERVED;
}

/** NAT64: a network without IPv4 reaches public servers by it, so the IPv4 address within decides. */
function classifyTranslated(address: ipaddr.IPv6): AddressClass {
  const inner = classifyAddress(new ipaddr.IPv4(address.toByteArray().slice(12)));
  // The loopback of the translator is not this machine's.
  return inner.kind === "loopback" ? RESERVED : inner;
}

function isIPv4(address: Address): address is ipaddr.IPv4 {
  return address.kind() === "ipv4";
}
