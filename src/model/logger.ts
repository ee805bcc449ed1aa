// The port every part logs through. Faces bring the implementation; the library is silent without one.

export type LogLevel = "debug" | "info" | "warn" | "error";

export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
};

/** The same logger, with a name on every line. */
export function loggerFor(server: string, logger: Logger): Logger {
  return {
    debug: (message, fields) => logger.debug(message, { server, ...fields }),
    info: (message, fields) => logger.info(message, { server, ...fields }),
    warn: (message, fields) => logger.warn(message, { server, ...fields }),
    error: (message, fields) => logger.error(message, { server, ...fields }),
  };
}
