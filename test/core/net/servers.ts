// Servers on loopback that end with their test, and the fetch that talks to them.

import { createServer } from "node:http";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Server as NetServer } from "node:net";
import { onTestFinished } from "vitest";
import { createFetch } from "../../../src/core/net/fetch.ts";
import type { FetchOptions, GuardedFetch } from "../../../src/core/net/fetch.ts";
import type { Resolve } from "../../../src/core/net/lookup.ts";
import type { NetworkPolicy } from "../../../src/core/net/policy.ts";

export const STRICT: NetworkPolicy = { allowInsecure: false, allowPrivate: false, allow: [] };

/** Listens on a free port of 127.0.0.1 until the test is over; returns the port. */
export async function listen(server: NetServer): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return (server.address() as AddressInfo).port;
}

/** A plain HTTP server; returns its origin. */
export async function serve(
  handler: RequestListener,
  onServer: (server: Server) => void = () => {},
): Promise<string> {
  const server = createServer(handler);
  onServer(server);
  return `http://127.0.0.1:${await listen(server)}`;
}

/** A fetch that is closed with its test and sees no proxy unless told. */
export function openFetch(options: Partial<FetchOptions> = {}, resolve?: Resolve): GuardedFetch {
  const fetch = createFetch({ policy: STRICT, env: {}, ...options }, resolve);
  onTestFinished(() => fetch.close());
  return fetch;
}

/** What a promise is rejected with. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error("it was not rejected");
    },
    (error: unknown) => error,
  );
}
