// Receives the browser's redirect at the end of a sign-in: one path on a loopback port.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { PlugboardError } from "../types/errors.ts";

export interface RedirectListener {
  redirectUri: string;
  /** The parameters of the first redirect with this `state`. */
  redirected(state: string): Promise<URLSearchParams>;
  close(): Promise<void>;
}

/**
 * Listens at `preferred` if its port is free, otherwise at any port. `isFixed` makes a port that is not free an
 * error. Returns undefined if `preferred` is not on this machine: then the redirect goes to somebody else.
 */
export async function listenForRedirect(
  preferred: string | undefined,
  isFixed: boolean,
): Promise<RedirectListener | undefined> {
  const redirectUri = new URL(preferred ?? "http://127.0.0.1/callback");
  if (!isLoopback(redirectUri)) return undefined;
  let settle: (visit: Visit) => void = () => {};
  const visits: Visit[] = [];
  const server = createServer((request, response) => {
    const visit = readVisit(request, redirectUri.pathname);
    answer(response, visit);
    if (visit === undefined) return;
    visits.push(visit);
    settle(visit);
  });
  redirectUri.port = String(await bind(server, redirectUri, isFixed));
  return {
    redirectUri: redirectUri.href,
    redirected: (state) =>
      new Promise((resolve) => {
        settle = (visit) => {
          // Any web page can open this URL, but only the real redirect knows the state.
          if (visit.get("state") === state) resolve(visit);
        };
        visits.forEach(settle);
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Visit = URLSearchParams;

function readVisit(request: IncomingMessage, path: string): Visit | undefined {
  const url = new URL(request.url ?? "/", "http://127.0.0.1");
  if (request.method !== "GET" || url.pathname !== path) return undefined;
  const { searchParams } = url;
  return searchParams.has("code") || searchParams.has("error") ? searchParams : undefined;
}

function answer(response: ServerResponse, visit: Visit | undefined): void {
  const text =
    visit === undefined
      ? "Not found."
      : visit.has("code")
        ? "The sign-in has reached Plugboard. You can close this window."
        : "The sign-in was refused. You can close this window.";
  response.writeHead(visit === undefined ? 404 : 200, {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    connection: "close",
  });
  response.end(`${text}\n`);
}

function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(hostname);
}

/** A port from the configuration is required; the port of an earlier sign-in is only preferred. */
async function bind(server: Server, wanted: URL, isFixed: boolean): Promise<number> {
  const host = wanted.hostname === "[::1]" ? "::1" : "127.0.0.1";
  const port = Number(wanted.port);
  try {
    return await listen(server, port, host);
  } catch (error) {
    if (!isFixed && port !== 0) return listen(server, 0, host);
    throw new PlugboardError("NETWORK", `port ${port} for the sign-in's redirect is not free`, {
      cause: error,
      hint: "stop the program that listens there, or set another oauth.redirectUri",
    });
  }
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.removeListener("error", reject);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}
