// Picks the way to open a connection by the definition's endpoint.

import type { Authorizer } from "../model/authorization.ts";
import type { ProtocolEra, RemoteTransportKind } from "../model/connection.ts";
import { cancelled } from "../model/errors.ts";
import { type Logger, loggerFor } from "../model/logger.ts";
import type { Endpoint, RemoteEndpoint, ServerDefinition } from "../model/server-definition.ts";
import { untilAborted } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import { packageVersion } from "../util/version.ts";
import { connectionOpener, type OpenConnection } from "./open-connection.ts";
import { remoteOpener } from "./open-remote.ts";
import type { HostAnswers } from "./requests/requests.ts";
import type { Redact } from "./stderr-log.ts";
import { stdioCarry } from "./stdio-carry.ts";

export interface ServerOpenerOptions {
  definition: ServerDefinition;
  /** Makes `${VAR}` into values; throws where one is missing. */
  resolve: () => Endpoint;
  /** Where the server runs unless its definition says otherwise. */
  cwd: string;
  /** The host's environment, of which a server gets the baseline. */
  env: Readonly<Record<string, string | undefined>>;
  /** The PATH of programs, in place of the one in `env`. Never rejects. */
  path?: Promise<string | undefined>;
  /** Where the proxy variables come from. */
  networkEnv: Readonly<Record<string, string | undefined>>;
  /** Hosts and ranges that the operator allows for every server. */
  networkAllow: readonly string[];
  /** Holds a remote server's tokens, where it has any use for them. */
  authorize?: (endpoint: RemoteEndpoint) => Promise<Authorizer | undefined>;
  clock: Clock;
  logger: Logger;
  /** Takes secrets out of stderr and of what the server says about itself and its tools. */
  redact?: Redact;
  /** What the server may ask for. Default: nothing. */
  answers?: HostAnswers;
  /** From an earlier run. */
  era?: ProtocolEra;
  transport?: RemoteTransportKind;
}

export function createOpener(options: ServerOpenerOptions): OpenConnection {
  const { definition, resolve } = options;
  const logger = loggerFor(definition.name, options.logger);
  const host = { name: "plugboard", version: packageVersion() };
  if (definition.endpoint.kind === "stdio") {
    const carry = stdioCarry({ ...options, logger, resolve: () => expectKind(resolve(), isStdio) });
    const open = connectionOpener({ ...options, logger, host, carry });
    return options.path === undefined ? open : afterPath(options.path, open);
  }
  const endpoint = (): RemoteEndpoint => expectKind(resolve(), isRemote);
  return remoteOpener({ ...options, env: options.networkEnv, logger, host, resolve: endpoint });
}

/** Outside the server's own time: that it took long to find out the PATH is no fault of the server's. */
function afterPath(path: Promise<string | undefined>, open: OpenConnection): OpenConnection {
  return async (signal, onRemains) => {
    await untilAborted(path, signal, cancelled);
    return open(signal, onRemains);
  };
}

type Stdio = Extract<Endpoint, { kind: "stdio" }>;

const isStdio = (endpoint: Endpoint): endpoint is Stdio => endpoint.kind === "stdio";
const isRemote = (endpoint: Endpoint): endpoint is RemoteEndpoint => endpoint.kind !== "stdio";

/** Resolving fills in values and never changes the kind. */
function expectKind<Kind extends Endpoint>(
  endpoint: Endpoint,
  isKind: (endpoint: Endpoint) => endpoint is Kind,
): Kind {
  if (isKind(endpoint)) return endpoint;
  throw new TypeError(`an endpoint became ${endpoint.kind}`);
}
