// A logger that tells no secret, whatever it is given.

import { type Logger, silentLogger } from "../model/logger.ts";
import type { Redactor } from "./redactor.ts";

export function redactingLogger(
  logger: Logger,
  redactor: Pick<Redactor, "text" | "value">,
): Logger {
  if (logger === silentLogger) return logger;
  const at =
    (level: keyof Logger): Logger["debug"] =>
    (message, fields) =>
      logger[level](redactor.text(message), fields === undefined ? fields : redactor.value(fields));
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
