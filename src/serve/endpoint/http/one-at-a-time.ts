// Answers the requests of one connection one after another. Node hands out every request as it comes, also before the answers to
// earlier ones are there, and does not tell a reply that is behind another one that the connection is gone: whatever is held for
// it would be held for ever.

import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Requests that wait on one connection. Clients that send any before they have their answers send a few. */
const MOST_WAITING = 100;

export function oneAtATime(answer: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  return (request: IncomingMessage, reply: ServerResponse): void => {
    // It has its socket as soon as it is the first.
    if (reply.socket !== null) return answer(request, reply);
    const { socket } = request;
    const count = waiting.get(socket) ?? 0;
    if (count >= MOST_WAITING) return void socket.destroy();
    waiting.set(socket, count + 1);
    reply.once("socket", () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      // Node is not done with the reply before that.
      process.nextTick(() => {
        if (!socket.destroyed) answer(request, reply);
      });
    });
  };
}
