// The gateway's side of the private channel: listens on a Unix socket or a named pipe, lets in who knows the key, and
// serves each link. Nothing that comes in before the proof of the key costs more than a few kilobytes.

import { createServer, type Socket } from "node:net";
import { listenPrivately } from "../../../core/net/private-socket.ts";
import { Strangers } from "../../../core/net/strangers.ts";
import { PlugboardError } from "../../../core/types/errors.ts";
import type { JsonObject } from "../../../core/types/json.ts";
import type { Logger } from "../../../core/types/logger.ts";
import type { Clock } from "../../../util/clock.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { MOST_IN_LINE } from "../../../util/measure-json.ts";
import { oneLine } from "../../../util/text.ts";
import { type ChannelAddress, type CommandInfo, greet } from "../greeting.ts";
import { Link } from "../link.ts";
import { type ChannelHost, ServedLink } from "./served-link.ts";

export type { ChannelHost } from "./served-link.ts";

export interface ServedChannel {
  /** How many requests of commands are being answered. */
  readonly inFlight: number;
  /** Lets nobody else in, and tells the commands that the gateway is about to stop: they send no further calls. */
  drain(): void;
  /** Ends all links. Resolves when their sessions are closed. */
  close(): Promise<void>;
}

/** Who has not proved yet that they know the key. Many commands may start in one moment. */
const STRANGERS = { withinMs: 5000, most: 256, maxBytes: 16 * 1024 };
const MOST_LINKS = 4000;
/** How long a closing channel waits for a command to read its last answers. */
const LAST_WORDS_MS = 1000;

/** Rejects with SYSTEM_ERROR if the address is in use or cannot be used. */
export async function serveChannel({
  path,
  key,
  host,
  clock,
  logger,
}: ChannelAddress & { host: ChannelHost; clock: Clock; logger: Logger }): Promise<ServedChannel> {
  const links = new Set<Link>();
  const strangers = new Strangers({ clock, ...STRANGERS });
  let isDraining = false;
  const serve = (socket: Socket, info: CommandInfo): void => {
    const peer = `the command '${info.command}' (pid ${info.pid})`;
    const link = new Link(socket, { peer, waitsForReader: true, most: MOST_IN_LINE });
    new ServedLink(link, info, host, clock).serve();
    links.add(link);
    void link.closed.then(async (end) => {
      if (end.kind === "broken") logger.warn(`${peer} was cut off: ${end.reason}`);
      await link.released;
      links.delete(link);
    });
  };
  const server = createServer((socket) => {
    if (isDraining || links.size >= MOST_LINKS) return void socket.destroy();
    greet(socket, key, strangers, (hello) => {
      if (hello !== undefined) serve(socket, commandIn(hello));
      else logger.warn("refused a command at the channel: it does not know the key");
    });
  });
  try {
    await listenPrivately(server, path);
  } catch (error) {
    const message = `the channel cannot be opened at ${path}: ${errorMessage(error)}`;
    throw new PlugboardError("SYSTEM_ERROR", message);
  }
  server.on("error", (error) => logger.error("the channel failed", { reason: String(error) }));
  return {
    get inFlight() {
      return [...links].reduce((sum, { inFlight }) => sum + inFlight, 0);
    },
    drain() {
      isDraining = true;
      server.close();
      for (const link of links) link.notify("closing");
    },
    async close() {
      isDraining = true;
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      strangers.close();
      const last = [...links];
      for (const link of last) link.close();
      await Promise.all(last.map(({ released }) => released));
      const timer = clock.after(LAST_WORDS_MS, () => last.forEach((link) => link.destroy()));
      await closed;
      timer.cancel();
    },
  };
}

function commandIn({ command, pid, cwd }: JsonObject): CommandInfo {
  return {
    command: typeof command === "string" ? oneLine(command, 40) : "unknown",
    pid: typeof pid === "number" ? pid : 0,
    cwd: typeof cwd === "string" ? oneLine(cwd, 1000) : "",
  };
}
