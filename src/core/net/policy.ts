// Where a request may go: the rules for URLs, redirects and resolved addresses.

import { type ErrorDetails, PlugboardError } from "../types/errors.ts";
import { oneLine } from "../../util/text.ts";
import { type AddressClass, classifyAddress, parseAddress } from "./address.ts";
import { hostList, plainHost } from "./host-list.ts";

const LONGEST_URL = 200;

export interface NetworkPolicy {
  /** Allows plain http to other machines. */
  allowInsecure: boolean;
  /** Allows addresses that are not on the internet: private, link-local, metadata. */
  allowPrivate: boolean;
  /** Hosts (exact or *.suffix) and CIDR ranges the operator allows; `http://` before one allows plain http to it. */
  allow: readonly string[];
  /** A session brought the server. The two flags cannot be set for it, so hints do not name them. */
  isOfSession?: boolean;
}

export interface AddressRules {
  /**
   * Throws REFUSED_ADDRESS unless a request may go to this URL, as far as that is known before its name is
   * resolved. `from` is the URL that redirected to it.
   */
  checkUrl(url: URL, from?: URL): void;
  /** Throws REFUSED_ADDRESS unless `host` may be reached at `address`. */
  checkAddress(host: string, address: string): void;
}

/** Throws CONFIG_INVALID for an entry of `allow` that is neither a host nor a range. */
export function addressRules(policy: NetworkPolicy): AddressRules {
  const allowed = hostList(policy.allow.map(withoutScheme), (entry) => {
    throw new PlugboardError(
      "CONFIG_INVALID",
      `network.allow: ${JSON.stringify(entry)} is neither a host nor an address range`,
      { hint: 'write "example.com", "*.example.com" or "10.0.0.0/8"', permanent: true },
    );
  });
  const allowedPlain = hostList(policy.allow.filter(isPlain).map(withoutScheme));

  function isPlainAllowed(host: string): boolean {
    const address = parseAddress(host);
    if (policy.allowInsecure || isLocal(host) || allowedPlain.hasHost(host)) return true;
    return address !== undefined && allowedPlain.hasAddress(address);
  }

  function isAllowed(host: string, address: string): boolean {
    const parsed = parseAddress(address);
    return (
      policy.allowPrivate ||
      allowed.hasHost(host) ||
      (parsed !== undefined && allowed.hasAddress(parsed))
    );
  }

  function allowedBy(setting: ErrorDetails["allowedBy"]): RefusalDetails {
    return { isHintForServer: true, ...(!policy.isOfSession && { allowedBy: setting }) };
  }

  function checkAddress(name: string, address: string): void {
    const host = plainHost(name);
    const found = classOf(address);
    const where = host === plainHost(address) ? address : `${host} (${address})`;
    if (isLocalName(host)) {
      if (found.kind === "loopback") return;
      throw refused(
        `${where} is ${found.label}, but ${host} must be this machine`,
        "check the hosts file and the name server of this machine",
      );
    }
    if (found.kind === "unusable") {
      throw refused(`${where} is ${found.label}`, "use the server's own address");
    }
    if (found.kind === "public" || isAllowed(host, address)) return;
    // A loopback address is explicit. A name that resolves to this machine may be an attack by DNS rebinding.
    if (found.kind === "loopback" && parseAddress(host) !== undefined) return;
    throw refused(`${where} is ${found.label}`, allowHint(host, policy), allowedBy("allowPrivate"));
  }

  function checkUrl(url: URL, from?: URL): void {
    if (url.protocol !== "https:" && url.protocol !== "http:") {
      throw refused(
        `${url.protocol} is not a scheme that Plugboard connects to`,
        "use an https URL",
      );
    }
    if (url.username !== "" || url.password !== "") {
      throw refused(
        `the URL of ${url.host} has a user name or password in it`,
        'take it out, and send it in "headers" or "auth"',
        { isHintForServer: true },
      );
    }
    const host = plainHost(url.hostname);
    if (url.protocol === "http:" && !isPlainAllowed(host)) {
      throw refused(
        `${showUrl(url)} is plain http, which is only allowed to this machine`,
        policy.isOfSession
          ? `use https, or add ${JSON.stringify(`http://${host}`)} to network.allow`
          : 'use https, or set "allowInsecure": true for this server',
        allowedBy("allowInsecure"),
      );
    }
    if (parseAddress(host) !== undefined) checkAddress(host, host);
    // Without this check any server on the internet could send requests to services on this machine.
    if (from !== undefined && isLocal(host) && !isLocal(plainHost(from.hostname))) {
      if (!isAllowed(host, host)) {
        throw refused(
          `${from.host} redirects to this machine (${url.host})`,
          allowHint(host, policy),
          allowedBy("allowPrivate"),
        );
      }
    }
  }

  return { checkUrl, checkAddress };
}

/** Whether a host is this machine, by a name or address that cannot mean another one. */
export function isLocal(host: string): boolean {
  const address = parseAddress(host);
  return address === undefined ? isLocalName(host) : classifyAddress(address).kind === "loopback";
}

/** Names that only mean something in the network that they are used in. */
const PRIVATE_NAMES = /\.(?:local|localhost|internal|intranet|lan|home|corp|home\.arpa)$/;

/** Whether a URL is one on the internet, as far as can be told without resolving its name. */
export function isPublic(url: URL): boolean {
  const host = plainHost(url.hostname);
  if (url.protocol !== "https:" || url.username !== "" || url.password !== "") return false;
  const address = parseAddress(host);
  if (address !== undefined) return classifyAddress(address).kind === "public";
  return host.includes(".") && !PRIVATE_NAMES.test(host);
}

function isLocalName(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost");
}

function classOf(address: string): AddressClass {
  const parsed = parseAddress(address);
  return parsed === undefined
    ? { kind: "unusable", label: "not an IP address" }
    : classifyAddress(parsed);
}

function allowHint(host: string, { isOfSession = false }: NetworkPolicy): string {
  const add = `add ${JSON.stringify(host)} to network.allow`;
  return isOfSession ? add : `set "allowPrivate": true for this server, or ${add}`;
}

const PLAIN_HTTP = /^\s*http:\/\//i;

function isPlain(entry: string): boolean {
  return PLAIN_HTTP.test(entry);
}

function withoutScheme(entry: string): string {
  return entry.replace(PLAIN_HTTP, "");
}

/** A URL for messages, without its user name and query: both may hold keys. */
export function showUrl(url: URL): string {
  return oneLine(`${url.protocol}//${url.host}${url.pathname}${url.search && "?…"}`, LONGEST_URL);
}

type RefusalDetails = Pick<ErrorDetails, "isHintForServer" | "allowedBy">;

function refused(message: string, hint: string, details: RefusalDetails = {}): PlugboardError {
  return new PlugboardError("REFUSED_ADDRESS", message, { ...details, hint, permanent: true });
}
