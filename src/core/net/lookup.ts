// Name resolution that checks every address against the rules. The socket connects to exactly the addresses that
// were checked, so a name that resolves differently a moment later (DNS rebinding) gains nothing.

import { lookup } from "node:dns/promises";
import type { LookupAddress, LookupOptions } from "node:dns";
import type { LookupFunction } from "node:net";
import { callbackify } from "node:util";
import { PlugboardError } from "../types/errors.ts";
import type { AddressRules } from "./policy.ts";

export type Resolve = (host: string, options: LookupOptions) => Promise<LookupAddress[]>;

export const systemResolve: Resolve = (host, options) => lookup(host, { ...options, all: true });

/** For `net.connect`, which calls it once for every connection. */
export function guardedLookup(
  rules: Pick<AddressRules, "checkAddress">,
  resolve: Resolve,
): LookupFunction {
  const resolveThen = callbackify(resolveChecked);
  return (host, options, callback) => {
    resolveThen(host, options, (error, addresses) => {
      if (error !== null) callback(error, "");
      else if (options.all === true) callback(null, addresses);
      else callback(null, addresses[0].address, addresses[0].family);
    });
  };

  async function resolveChecked(
    host: string,
    options: LookupOptions,
  ): Promise<[LookupAddress, ...LookupAddress[]]> {
    const [first, ...others] = await resolve(host, options);
    if (first === undefined)
      throw new PlugboardError("NETWORK", `${host} has no address`, {
        hint: "check the spelling of the host",
      });
    for (const { address } of [first, ...others]) rules.checkAddress(host, address);
    return [first, ...others];
  }
}
