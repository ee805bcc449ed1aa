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

/** The same logger, with a server's name on every line. */
export function loggerFor(server: string, logger: Logger): Logger {
  return loggerWith({ server }, logger);
}

/** The same logger, with these fields on every line. */
export function loggerWith(common: LogFields, logger: Logger): Logger {
  return {
    debug: (message, fields) => logger.debug(message, { ...common, ...fields }),
    info: (message, fields) => logger.info(message, { ...common, ...fields }),
    warn: (message, fields) => logger.warn(message, { ...common, ...fields }),
    error: (message, fields) => logger.error(message, { ...common, ...fields }),
  };
}
