// What servers log, passed on to the clients that want it, from the level that each of them has set.

import type { BoardBase } from "../../core/types/board.ts";
import type { LogEvent } from "../../core/types/events.ts";
import type { JsonObject } from "../../core/types/json.ts";
import { SERVER_LOG_LEVELS, type ServerLogLevel } from "../../core/types/server-log.ts";
import type { Client, Exchange } from "./client.ts";
import { type Answer, invalidParams, notification } from "./message.ts";
import { META, metaOf } from "./protocol.ts";

type LogBoard = Pick<BoardBase, "on" | "setLogLevel">;

export class LogMessages {
  readonly #board: LogBoard;
  readonly #clients = new Set<Client>();
  /** Requests of 2026-07-28 that want to hear what servers log because of them, by call id. */
  readonly #exchanges = new Map<string, { exchange: Exchange; level: ServerLogLevel }>();
  readonly #off: () => void;
  readonly #namesServer: () => boolean;
  readonly #mayBeForOthers: (server: string) => boolean;

  /**
   * `namesServer` tells whether clients must know which server logs: not where there is only one. `mayBeForOthers` is
   * asked about messages that belong to no call for certain.
   */
  constructor(
    board: LogBoard,
    namesServer: () => boolean,
    mayBeForOthers: (server: string) => boolean = () => false,
  ) {
    this.#board = board;
    this.#namesServer = namesServer;
    this.#mayBeForOthers = mayBeForOthers;
    this.#off = board.on("log", (event) => this.#logged(event));
  }

  add(client: Client): () => void {
    this.#clients.add(client);
    return () => {
      this.#clients.delete(client);
      if (client.logLevel !== undefined) this.#tellServers();
    };
  }

  /** Listens for one request, if it asks for that. Returns a function that ends it. */
  watch(exchange: Exchange): (() => void) | undefined {
    const level =
      exchange.client.era === "modern" ? wantedLevel(exchange.request.params) : undefined;
    if (level === undefined) return undefined;
    this.#exchanges.set(exchange.callId, { exchange, level });
    this.#tellServers();
    return () => {
      this.#exchanges.delete(exchange.callId);
      this.#tellServers();
    };
  }

  setLevel({ client, request }: Exchange): Answer {
    const { level } = request.params;
    if (!isLevel(level))
      return invalidParams(`level is not one of ${SERVER_LOG_LEVELS.join(", ")}`);
    this.restore(client, level);
    return { result: {} };
  }

  restore(client: Client, level: string): void {
    if (!isLevel(level)) return;
    client.logLevel = level;
    this.#tellServers();
  }

  close(): void {
    this.#off();
    this.#clients.clear();
    this.#exchanges.clear();
  }

  #logged({ server, level, logger, data, callId }: LogEvent): void {
    const message = notification("notifications/message", {
      level,
      ...loggerName(server, logger, this.#namesServer()),
      data,
    });
    if (callId === undefined && this.#mayBeForOthers(server)) return;
    for (const client of this.#clients) {
      if (callId !== undefined && !client.made(callId)) continue;
      if (isLevel(client.logLevel) && rank(level) >= rank(client.logLevel)) client.send(message);
    }
    // In 2026-07-28, a message that may belong to somebody else's call is dropped.
    const wanted = callId === undefined ? undefined : this.#exchanges.get(callId);
    if (wanted !== undefined && rank(level) >= rank(wanted.level)) wanted.exchange.send(message);
  }

  /** Servers are asked for the lowest level that any client wants. */
  #tellServers(): void {
    const wanted = [
      ...[...this.#clients].flatMap(({ logLevel }) => (isLevel(logLevel) ? [rank(logLevel)] : [])),
      ...[...this.#exchanges.values()].map(({ level }) => rank(level)),
    ];
    this.#board.setLogLevel(SERVER_LOG_LEVELS[Math.min(...wanted)]);
  }
}

function loggerName(
  server: string,
  logger: string | undefined,
  named: boolean,
): { logger?: string } {
  if (!named) return logger === undefined ? {} : { logger };
  return { logger: logger === undefined ? server : `${server}/${logger}` };
}

function isLevel(level: unknown): level is ServerLogLevel {
  return (SERVER_LOG_LEVELS as readonly unknown[]).includes(level);
}

function rank(level: ServerLogLevel): number {
  return SERVER_LOG_LEVELS.indexOf(level);
}

/** In 2026-07-28 every request says from which level on it wants to hear what servers log. */
function wantedLevel(params: JsonObject): ServerLogLevel | undefined {
  const level = metaOf(params)[META.logLevel];
  return isLevel(level) ? level : undefined;
}
