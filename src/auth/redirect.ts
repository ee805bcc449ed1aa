// Hears the browser come back: one path on a loopback port, for one sign-in.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { PlugboardError } from "../model/errors.ts";

const PATH = "/callback";

export interface RedirectListener {
  redirectUri: string;
  /** The parameters of the first visit that carries `state`. */
  arrival(state: string): Promise<URLSearchParams>;
  close(): Promise<void>;
}

/**
 * `preferred` is listened at if it is on this machine and its port is free; otherwise any port. An
 * address elsewhere is somebody else's to listen at: then there is no listener.
 */
export async function listenForRedirect(
  preferred: string | undefined,
  isFixed: boolean,
): Promise<RedirectListener | undefined> {
  const wanted = preferred === undefined ? undefined : new URL(preferred);
  if (wanted !== undefined && !isLoopback(wanted)) return undefined;
  let settle: (visit: Visit) => void = () => {};
  const visits: Visit[] = [];
  const path = wanted?.pathname ?? PATH;
  const server = createServer((request, response) => {
    const visit = readVisit(request, path);
    answer(response, visit);
    if (visit === undefined) return;
    visits.push(visit);
    settle(visit);
  });
  const port = await bind(server, wanted, isFixed);
  const redirectUri = wanted === undefined ? `http://127.0.0.1:${port}${PATH}` : at(wanted, port);
  return {
    redirectUri,
    arrival: (state) =>
      new Promise((resolve) => {
        settle = (visit) => {
          // A page that guesses may come first; only who was sent knows the state.
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
      ? "There is nothing here."
      : visit.has("code")
        ? "Plugboard has heard from your browser. You can close this window and go back."
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

/** A port that the configuration asks for must be had; one that was used before need not. */
async function bind(server: Server, wanted: URL | undefined, isFixed: boolean): Promise<number> {
  const host = wanted?.hostname === "[::1]" ? "::1" : "127.0.0.1";
  const port = Number(wanted?.port ?? 0);
  try {
    return await listen(server, port, host);
  } catch (error) {
    if (!isFixed && port !== 0) return listen(server, 0, host);
    throw new PlugboardError("NETWORK", `port ${port} for the sign-in's redirect is not free`, {
      cause: error,
      hint: "stop what listens there, or set another oauth.redirectUri",
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

function at(url: URL, port: number): string {
  const result = new URL(url);
  result.port = String(port);
  return result.href;
}
