// Classifies IP addresses: on the internet, this machine, a private network, or no machine at all.

import { isIP } from "node:net";
import ipaddr, { type IPv4, type IPv6 } from "ipaddr.js";

export interface AddressClass {
  /** An `unusable` address belongs to no single machine, so no setting can allow it. */
  kind: "public" | "loopback" | "private" | "unusable";
  /** For messages: "a link-local address". */
  label: string;
}

export type Address = IPv4 | IPv6;

/** Clouds hand out credentials at these addresses. Some are in public ranges, so the range does not reveal them. */
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

/** The only IPv6 range that has been assigned as global unicast. */
const GLOBAL_UNICAST = rangeOf("2000::/3");
const NAT64 = rangeOf("64:ff9b::/96");

/** Read with the first address: a program on this machine has none, and must not wait for it. */
function rangeOf(text: string): () => [IPv6, number] {
  let parsed: [IPv6, number] | undefined;
  return () => (parsed ??= ipaddr.IPv6.parseCIDR(text));
}

/** Undefined for anything but an IP address in its usual notation. IPv4-mapped IPv6 is returned as IPv4. */
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

/** Removes the zone and dotted parts: the parser would read `::10.0.0.1` as `::ffff:10.0.0.1`. */
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
  return address.match(NAT64()) ? classifyTranslated(address) : classifyIPv6(address, range);
}

const PUBLIC: AddressClass = { kind: "public", label: "a public address" };

/** 6to4, Teredo and the like embed an IPv4 address that leads anywhere, so they count as reserved. */
function classifyIPv6(address: IPv6, range: string): AddressClass {
  return range === "unicast" && address.match(GLOBAL_UNICAST()) ? PUBLIC : RESERVED;
}

/** A network without IPv4 reaches public servers through NAT64, so the embedded IPv4 address decides. */
function classifyTranslated(address: IPv6): AddressClass {
  const inner = classifyAddress(new ipaddr.IPv4(address.toByteArray().slice(12)));
  // The translator's loopback address is not this machine.
  return inner.kind === "loopback" ? RESERVED : inner;
}

function isIPv4(address: Address): address is IPv4 {
  return address.kind() === "ipv4";
}
