// Picks the way to open a connection by the definition's endpoint.

import type { ProtocolEra } from "../model/connection.ts";
import { PlugboardError } from "../model/errors.ts";
import type { Logger } from "../model/logger.ts";
import type { Endpoint, ServerDefinition, StdioEndpoint } from "../model/server-definition.ts";
import type { Clock } from "../util/clock.ts";
import { packageVersion } from "../util/version.ts";
import { type OpenConnection, stdioOpener } from "./open-stdio.ts";
import { containerEngine, reapContainers } from "./process/container.ts";
import { spawnServer } from "./process/spawn.ts";

export interface OpenerOptions {
  definition: ServerDefinition;
  /** Makes `${VAR}` into values; throws where one is missing. */
  resolve: () => Endpoint;
  /** Where the server runs unless its definition says otherwise. */
  cwd: string;
  /** The host's environment, of which a server gets the baseline. */
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  logger: Logger;
  era?: ProtocolEra;
}

export function createOpener(options: OpenerOptions): OpenConnection {
  const { definition, resolve, clock, logger, cwd, env, era } = options;
  let containersReaped = false;
  return stdioOpener({
    definition,
    resolve: () => requireStdio(resolve(), definition.name),
    async spawn(endpoint, server) {
      const engine = containerEngine({ cwd, ...endpoint }, env);
      // Before the first start, and waited for: what a killed host left may hold the container's name.
      if (engine !== undefined && !containersReaped) {
        containersReaped = true;
        await reapContainers(engine, { clock, logger });
      }
      return spawnServer({ cwd, ...endpoint, server, ambient: { ...env }, clock, logger });
    },
    host: { name: "plugboard", version: packageVersion() },
    clock,
    logger,
    ...(era !== undefined && { era }),
  });
}

function requireStdio(endpoint: Endpoint, server: string): StdioEndpoint {
  if (endpoint.kind === "stdio") return endpoint;
  throw new PlugboardError(
    "UNSUPPORTED",
    "servers behind a URL are not supported in this version",
    {
      server,
      permanent: true,
      hint: "use the server's stdio command, if it has one",
    },
  );
}
