// Where a server of our own may listen: tokens must not cross a network in plain text.

import { plainHost } from "./host-list.ts";
import { isLocal } from "./policy.ts";

export interface Binding {
  host: string;
  /** Present if the gateway itself speaks TLS. */
  tls?: object;
  /** Something in front of it terminates TLS. */
  behindProxy?: boolean;
}

/** Completes a sentence that begins with the host's setting. Undefined if the gateway may listen there. */
export function bindingProblem({ host, tls, behindProxy = false }: Binding): string | undefined {
  if (isLocal(plainHost(host)) || tls !== undefined || behindProxy) return undefined;
  return (
    "makes the gateway reachable from other machines, and tokens would cross the network in plain text; " +
    "expected gateway.tls, or gateway.behindProxy: true if something in front of it terminates TLS"
  );
}
