// Where a request comes from, for what is counted by address before anybody knows who makes it.

import type { IncomingMessage } from "node:http";

/** A proxy adds the address of its own client at the end. */
export function clientAddress({ socket, headers }: IncomingMessage, behindProxy: boolean): string {
  const forwarded = behindProxy ? headers["x-forwarded-for"] : undefined;
  const last = String(forwarded ?? "")
    .slice(-100)
    .split(",")
    .at(-1)
    ?.trim();
  return last || (socket.remoteAddress ?? "");
}
