// What servers log, passed on to the clients that want it, from the level that each of them has set.

import type { BoardBase } from "../model/board.ts";
import { isJsonObject } from "../model/json.ts";
import type { Client, Exchange } from "./client.ts";
import { type Answer, invalidParams, notification } from "./message.ts";
import { META } from "./protocol.ts";

const LEVELS = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const;

export class LogMessages {
  readonly #board: Pick<BoardBase, "on" | "setLogLevel">;
  readonly #clients = new Set<Client>();
  readonly #off: () => void;

  constructor(board: Pick<BoardBase, "on" | "setLogLevel">) {
    this.#board = board;
    this.#off = board.on("log", ({ server, level, logger = server, data }) => {
      const message = notification("notifications/message", { level, logger, data });
      for (const client of this.#clients) {
        if (client.logLevel !== undefined && rank(level) >= rank(client.logLevel))
          client.send(message);
      }
    });
  }

  add(client: Client): () => void {
    this.#clients.add(client);
    return () => {
      this.#clients.delete(client);
      if (client.logLevel !== undefined) this.#tellServers();
    };
  }

  setLevel({ client, request }: Exchange): Answer {
    const { level } = request.params;
    if (typeof level !== "string" || rank(level) === -1) {
      return invalidParams(`level is not one of ${LEVELS.join(", ")}`);
    }
    client.logLevel = level;
    this.#tellServers();
    return { result: {} };
  }

  restore(client: Client, level: string): void {
    client.logLevel = level;
    this.#tellServers();
  }

  close(): void {
    this.#off();
    this.#clients.clear();
  }

  /** Servers are asked for the lowest level that any client wants. */
  #tellServers(): void {
    const wanted = [...this.#clients].flatMap(({ logLevel }) =>
      logLevel === undefined ? [] : [rank(logLevel)],
    );
    if (wanted.length > 0) this.#board.setLogLevel(LEVELS[Math.min(...wanted)] ?? "warning");
  }
}

function rank(level: string): number {
  return (LEVELS as readonly string[]).indexOf(level);
}

/** In 2026-07-28 every request says from which level on it wants to hear what servers log. */
export function wantedLevel({ request }: Exchange): string | undefined {
  const { _meta } = request.params;
  const level = isJsonObject(_meta) ? _meta[META.logLevel] : undefined;
  return typeof level === "string" && rank(level) !== -1 ? level : undefined;
}
