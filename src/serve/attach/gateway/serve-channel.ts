// The gateway's side of the private channel: listens on a Unix socket or a named pipe, lets in who knows the key, and
// serves each link. Nothing that comes in before the proof of the key costs more than a few kilobytes.

import { createServer, type Socket } from "node:net";
import { listenPrivately } from "../../../core/net/private-socket.ts";
import { Strangers } from "../../../core/net/strangers.ts";
import { PlugboardError } from "../../../core/types/errors.ts";
import type { JsonObject } from "../../../core/types/json.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { oneLine } from "../../../util/text.ts";
import { type ChannelAddress, type CommandInfo, greet } from "../greeting.ts";
import { Link } from "../link.ts";
import { type ChannelHost, ServedLink, type ServedLinkOptions } from "./served-link.ts";

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
/** A command has a link for each of its sessions. */
const MOST_LINKS = 4000;
/** In one request of a command: more of them would hold up everybody else. */
const MOST_VALUES = 250_000;
/** How long a closing channel waits for a command to read its last answers. */
const LAST_WORDS_MS = 1000;

/** Rejects with SYSTEM_ERROR if the address is in use or cannot be used. */
export async function serveChannel(
  options: ChannelAddress & Omit<ServedLinkOptions, "onAnswered">,
): Promise<ServedChannel> {
  const { path, key, clock, logger } = options;
  const served = new Set<ServedLink>();
  const attached = new Map<string, { links: number; left: () => void }>();
  const strangers = new Strangers({ clock, ...STRANGERS });
  let isDraining = false;

  /** A command is one, however many links it has. */
  const attach: ChannelHost["attached"] = (command) => {
    const who = JSON.stringify(command);
    const known = attached.get(who) ?? { links: 0, left: options.host.attached(command) };
    attached.set(who, known);
    known.links += 1;
    return () => {
      known.links -= 1;
      if (known.links > 0) return;
      attached.delete(who);
      known.left();
    };
  };
  const serve = (socket: Socket, info: CommandInfo, rest: Buffer): void => {
    const peer = `the command '${info.command}' (pid ${info.pid})`;
    const link = new Link(socket, { peer, rest, waitsForReader: true, maxValues: MOST_VALUES });
    // Another link of the command tells of the servers.
    const onAnswered = (): void => {
      for (const other of served) if (other.info.pid === info.pid) other.told?.soon();
    };
    const host = { ...options.host, attached: attach };
    const each = new ServedLink(link, info, { ...options, host, onAnswered });
    served.add(each);
    void link.closed.then(async (end) => {
      if (end.kind === "broken") logger.warn(`${peer} was cut off: ${end.reason}`);
      await each.close();
      served.delete(each);
    });
  };
  const server = createServer((socket) => {
    if (isDraining || served.size >= MOST_LINKS) return void socket.destroy();
    const onRefused = (): void =>
      logger.warn("refused a command at the channel: it does not know the key");
    greet(
      socket,
      key,
      strangers,
      (hello, rest) => serve(socket, commandIn(hello), rest),
      onRefused,
    );
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
      return [...served].reduce((sum, { link }) => sum + link.inFlight, 0);
    },
    drain() {
      isDraining = true;
      server.close();
      for (const { link } of served) link.notify("closing");
    },
    async close() {
      isDraining = true;
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      strangers.close();
      const links = [...served];
      await Promise.all(links.map((each) => each.close()));
      const timer = clock.after(LAST_WORDS_MS, () => {
        for (const { link } of links) link.destroy();
      });
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
