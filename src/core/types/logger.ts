// The logger that the library writes to. You bring the implementation; without one the library logs nothing.

export type LogLevel = "debug" | "info" | "warn" | "error";

export type LogFields = Readonly<Record<string, unknown>>;

/** A logger of pino's fits too, as it is. */
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

/** Adds the server's name to every line. */
export function loggerFor(server: string, logger: Logger): Logger {
  return loggerWith({ server }, logger);
}

/** Adds these fields to every line. */
export function loggerWith(common: LogFields, logger: Logger): Logger {
  return {
    debug: (message, fields) => logger.debug(message, { ...common, ...fields }),
    info: (message, fields) => logger.info(message, { ...common, ...fields }),
    warn: (message, fields) => logger.warn(message, { ...common, ...fields }),
    error: (message, fields) => logger.error(message, { ...common, ...fields }),
  };
}

/** A logger of pino's as one of ours: it takes the fields first. Any other stays as it is. */
export function loggerOf(given: Logger): Logger {
  if (!("bindings" in given) || typeof given.bindings !== "function") return given;
  const pino = given as unknown as Record<LogLevel, (fields: LogFields, message: string) => void>;
  return {
    debug: (message, fields = {}) => pino.debug(fields, message),
    info: (message, fields = {}) => pino.info(fields, message),
    warn: (message, fields = {}) => pino.warn(fields, message),
    error: (message, fields = {}) => pino.error(fields, message),
  };
}
