// Writes a server's log messages (`notifications/message`) to the log: as plain text, short and in bounded
// number.

import type { CallerRequest } from "../../types/connection.ts";
import { isJsonObject } from "../../types/json.ts";
import type { Logger, LogLevel } from "../../types/logger.ts";
import { SERVER_LOG_LEVELS, type ServerLogMessage } from "../../types/server-log.ts";
import type { Clock } from "../../../util/clock.ts";
import { isTooDeep } from "../../../util/json-depth.ts";
import { asText, oneLine, plainText, plural } from "../../../util/text.ts";
import { mapStrings } from "../../../util/value-strings.ts";
import { LogLimit } from "../../process/log-limit.ts";
import type { RedactText } from "../../process/stderr-log.ts";

const MAX_LINE = 2000;
/** How many characters of a message we look at. */
const MAX_READ = 4 * MAX_LINE;
const MAX_NAME = 80;
const LIMIT = { maxLines: 100, windowMs: 1000 };

const LEVELS: ReadonlyMap<unknown, LogLevel> = new Map<unknown, LogLevel>([
  ["debug", "debug"],
  ["info", "info"],
  ["notice", "info"],
  ["warning", "warn"],
  ["error", "error"],
  ["critical", "error"],
  ["alert", "error"],
  ["emergency", "error"],
]);

/** A message, and the board that the request is made on which it belongs to. */
export interface LoggedMessage extends ServerLogMessage {
  board?: object;
}

export interface ServerLogOptions {
  logger: Logger;
  clock: Clock;
  redact?: RedactText;
  onLog?: ((message: LoggedMessage) => void) | undefined;
}

export class ServerLog {
  readonly #logger: Logger;
  readonly #redact: RedactText;
  readonly #onLog: ServerLogOptions["onLog"];
  readonly #limit: LogLimit;

  constructor({ logger, clock, redact = (text) => text, onLog }: ServerLogOptions) {
    this.#logger = logger;
    this.#redact = redact;
    this.#onLog = onLog;
    const onLeftOut = (count: number): void =>
      logger.warn(`(${plural(count, "message")} left out)`, { stream: "log" });
    this.#limit = new LogLimit({ ...LIMIT, clock, onLeftOut });
  }

  /** `request` is the one that the message certainly belongs to. */
  write(params: unknown, request?: Pick<CallerRequest, "callId" | "board">): void {
    if (!isJsonObject(params) || !this.#limit.take()) return;
    const level = LEVELS.get(params.level) ?? "info";
    const { logger } = params;
    const name = typeof logger === "string" ? oneLine(this.#plain(logger), MAX_NAME) : "";
    const text = asText(params.data);
    const plain = this.#plain(text);
    this.#logger[level](oneLine(plain, MAX_LINE), {
      stream: "log",
      ...(name !== "" && { logger: name }),
    });
    this.#onLog?.({
      level: SERVER_LOG_LEVELS.find((each) => each === params.level) ?? "info",
      ...(name !== "" && { logger: name }),
      data: this.#data(params.data, text, plain),
      ...(request?.callId !== undefined && { callId: request.callId }),
      ...(request?.board !== undefined && { board: request.board }),
    });
  }

  /** JSON stays JSON if it is small. `text` is the whole of it, and `plain` what may be shown of that. */
  #data(data: unknown, text: string, plain: string): unknown {
    if (typeof data === "string") return plain;
    if (typeof data !== "object" || data === null) return data ?? null;
    if (text.length > MAX_READ || isTooDeep(data)) return plain;
    return plain === text ? data : mapStrings(data, (each) => this.#plain(each));
  }

  /** Redacts after plainText, because an escape inside a secret would hide it, and before the text is cut further. */
  #plain(text: string): string {
    const isCut = text.length > MAX_READ;
    return this.#redact(plainText(text.slice(0, MAX_READ)), isCut);
  }
}
