// Connects to one server: resolves its target, then starts what carries the conversation and opens the
// connection over it (connect-stdio.ts, connect-remote.ts, connect-acp.ts).

import type { Connection } from "../types/connection.ts";
import { loggerFor } from "../types/logger.ts";
import type { ResolvedTarget } from "../types/server-definition.ts";
import { type AcpConnectOptions, acpConnector } from "./connect-acp.ts";
import { type RemoteConnectOptions, remoteConnector } from "./connect-remote.ts";
import { type StdioConnectOptions, stdioConnector } from "./connect-stdio.ts";
import type { Remains } from "./connection/live-connection.ts";

export interface ConnectOptions
  extends StdioConnectOptions, RemoteConnectOptions, AcpConnectOptions {
  /** Fills in variables and secrets; rejects where one cannot be had. Never changes the target's kind. */
  resolve: (signal: AbortSignal) => Promise<ResolvedTarget>;
}

/**
 * Opens a connection, until `signal` gives up. Rejects with a PlugboardError as soon as the reason is known;
 * before that it reports through `onRemains` what the failed attempt leaves behind.
 */
export type Connect = (
  signal: AbortSignal,
  onRemains: (remains: Remains) => void,
) => Promise<Connection>;

/** Every attempt learns something about the server (its era, its transport), and the next one uses it. */
export function createConnector(options: ConnectOptions): Connect {
  const logged = { ...options, logger: loggerFor(options.definition.name, options.logger) };
  const stdio = stdioConnector(logged);
  const remote = remoteConnector(logged);
  const acp = acpConnector(logged);
  return async (signal, onRemains) => {
    const { target, renew } = await options.resolve(signal);
    switch (target.kind) {
      case "stdio":
        return stdio(target, signal, onRemains);
      case "acp":
        return acp(target, signal, onRemains);
      default:
        return remote({ target, renew }, signal, onRemains);
    }
  };
}
