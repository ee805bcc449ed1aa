// Starts a stdio server's process as the carrier of a conversation.

import type { Logger } from "../model/logger.ts";
import type { ServerDefinition, StdioEndpoint } from "../model/server-definition.ts";
import type { Clock } from "../util/clock.ts";
import type { Carrier } from "./carrier.ts";
import { containerEngine, reapContainers } from "./process/containers.ts";
import { startProcess } from "./process/start-process.ts";
import type { Redact } from "./stderr-log.ts";
import { stdioCarrier } from "./stdio-carrier.ts";

export interface StdioCarryOptions {
  definition: ServerDefinition;
  resolve: () => StdioEndpoint;
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** In place of the PATH in `env`, once it is known. */
  path?: Promise<string | undefined>;
  clock: Clock;
  logger: Logger;
  redact?: Redact;
}

export function stdioCarry(options: StdioCarryOptions): () => Promise<Carrier> {
  const { definition, resolve, clock, logger, cwd, redact } = options;
  let containersReaped = false;
  return async () => {
    const endpoint = resolve();
    const path = await options.path;
    const env = path === undefined ? options.env : { ...options.env, PATH: path };
    const engine = containerEngine({ cwd, ...endpoint }, env);
    // Before the first start, and waited for: what a killed host left may hold the container's name.
    if (engine !== undefined && !containersReaped) {
      containersReaped = true;
      await reapContainers(engine, { clock, logger });
    }
    const server = definition.name;
    const ambient = { ...env };
    const child = await startProcess({ cwd, ...endpoint, server, ambient, clock, logger });
    const { maxMessageBytes } = definition;
    return stdioCarrier({
      process: child,
      maxMessageBytes,
      clock,
      logger,
      ...(redact !== undefined && { redact }),
    });
  };
}
