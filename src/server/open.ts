// Picks the way to open a connection by the definition's endpoint.

import type { ProtocolEra } from "../model/connection.ts";
import { type Logger, loggerFor } from "../model/logger.ts";
import type { Endpoint, ServerDefinition } from "../model/server-definition.ts";
import type { Clock } from "../util/clock.ts";
import { packageVersion } from "../util/version.ts";
import { connectionOpener, type OpenConnection } from "./open-connection.ts";
import { remoteOpener } from "./open-remote.ts";
import { stdioCarry } from "./stdio-carry.ts";

export interface ServerOpenerOptions {
  definition: ServerDefinition;
  /** Makes `${VAR}` into values; throws where one is missing. */
  resolve: () => Endpoint;
  /** Where the server runs unless its definition says otherwise. */
  cwd: string;
  /** The host's environment, of which a server gets the baseline. */
  env: Readonly<Record<string, string | undefined>>;
  /** Hosts and ranges that the operator allows for every server. */
  networkAllow: readonly string[];
  clock: Clock;
  logger: Logger;
  era?: ProtocolEra;
}

export function createOpener(options: ServerOpenerOptions): OpenConnection {
  const { definition, resolve } = options;
  const logger = loggerFor(definition.name, options.logger);
  const host = { name: "plugboard", version: packageVersion() };
  if (definition.endpoint.kind === "stdio") {
    const carry = stdioCarry({ ...options, logger, resolve: () => expectKind(resolve(), isStdio) });
    return connectionOpener({ ...options, logger, host, carry });
  }
  return remoteOpener({ ...options, logger, host, resolve: () => expectKind(resolve(), isRemote) });
}

type Stdio = Extract<Endpoint, { kind: "stdio" }>;
type Remote = Exclude<Endpoint, Stdio>;

const isStdio = (endpoint: Endpoint): endpoint is Stdio => endpoint.kind === "stdio";
const isRemote = (endpoint: Endpoint): endpoint is Remote => endpoint.kind !== "stdio";

/** Resolving fills in values and never changes the kind. */
function expectKind<Kind extends Endpoint>(
  endpoint: Endpoint,
  isKind: (endpoint: Endpoint) => endpoint is Kind,
): Kind {
  if (isKind(endpoint)) return endpoint;
  throw new TypeError(`an endpoint became ${endpoint.kind}`);
}
