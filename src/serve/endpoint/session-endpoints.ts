// The session endpoints of this process: listens for all of them on one port and one socket, or for one at an address that
// was agreed on before, and passes a request on to the endpoint whose token it shows.

import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { PlugboardError } from "../../core/types/errors.ts";
import { bearerToken } from "../../core/net/bearer.ts";
import { privateSocketPath } from "../../core/net/private-socket.ts";
import { errorMessage } from "../../util/error-message.ts";
import { type SessionHello, SessionSocket } from "./session-socket.ts";
import { type Loopback, type LoopbackLimits, openLoopback } from "./http/loopback.ts";
import { refusal, sendRefusal } from "./http/refusal.ts";
import {
  GONE,
  OpenEndpoint,
  type OpenEndpointOptions,
  type SessionEndpoint,
} from "./session-endpoint.ts";
import { openSpans } from "./spans.ts";

/** An address that was agreed on before: a slot of OpenClaw. */
export interface FixedAddress {
  port: number;
  path: string;
  token: string;
}

export interface SessionEndpointsOptions extends Pick<
  OpenEndpointOptions,
  "clock" | "logger" | "newId" | "random" | "program" | "serveWithin"
> {
  /** A private directory for the socket. */
  directory: string;
  limits?: LoopbackLimits & OpenEndpointOptions["limits"];
}

const NO_TOKEN =
  "the token of the session is missing; send it as Authorization: Bearer <token>, never in the URL";
const WRONG_TOKEN = "this token is not the session's; send the one that came with this address";

export class SessionEndpoints {
  readonly #options: SessionEndpointsOptions;
  /** Those at the shared port, by path. */
  readonly #byPath = new Map<string, OpenEndpoint>();
  /** All of them, by the id that the session program is started with. */
  readonly #byId = new Map<string, OpenEndpoint>();
  readonly #socketPath: string;
  #loopback: Promise<Loopback> | undefined;
  #socket: Promise<SessionSocket | PlugboardError> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: SessionEndpointsOptions) {
    this.#options = options;
    this.#socketPath = privateSocketPath({
      directory: options.directory,
      name: `session-${options.random(9).toString("base64url")}`,
      platform: process.platform,
      tmpdir: tmpdir(),
      uid: process.getuid?.(),
    });
  }

  /**
   * An endpoint for a session that is about to open. Listens when the first one is reserved; at a fixed address, only for
   * this one. Rejects with SYSTEM_ERROR if it cannot; the `code` of its `cause` is EADDRINUSE for a port that is taken.
   */
  async reserve(fixed?: FixedAddress): Promise<SessionEndpoint> {
    if (this.#closing !== undefined) throw closed();
    const { random, newId, logger, limits } = this.#options;
    const id = newId();
    const path = fixed?.path ?? `/session/${random(18).toString("base64url")}/mcp`;
    const token = fixed?.token ?? random(32).toString("base64url");
    const spans = await openSpans();
    const socket = await this.#openSocket();
    let own: Loopback | undefined;
    if (fixed !== undefined) {
      own = await openLoopback(fixed.port, (asked, ...rest) => this.#answerOwn(id, asked, rest), {
        logger,
        limits,
      });
    }
    const loopback = own ?? (await this.#openLoopback());
    const endpoint = new OpenEndpoint({
      ...this.#options,
      spans,
      id,
      path,
      token,
      port: loopback.port,
      socket: socket instanceof PlugboardError ? socket : this.#socketPath,
      onClose: async () => {
        this.#byPath.delete(path);
        this.#byId.delete(id);
        await own?.close();
      },
    });
    if (own === undefined) this.#byPath.set(path, endpoint);
    this.#byId.set(id, endpoint);
    if (this.#closing !== undefined) {
      await endpoint.close();
      throw closed();
    }
    return endpoint;
  }

  /** Idempotent. Closes every endpoint, and listens no more. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#byId.values()].map((each) => each.close()));
    const loopback = await this.#loopback?.catch(() => undefined);
    const socket = await this.#socket;
    await Promise.all([
      loopback?.close(),
      socket instanceof SessionSocket ? socket.close() : undefined,
    ]);
  }

  #openLoopback(): Promise<Loopback> {
    const { logger, limits } = this.#options;
    this.#loopback ??= openLoopback(
      0,
      (path, request, reply) => answerAt(this.#byPath.get(path), request, reply),
      { logger, limits },
    ).catch((error: unknown) => {
      // The next session tries again.
      this.#loopback = undefined;
      throw error;
    });
    return this.#loopback;
  }

  /** Most agents take HTTP. If the socket cannot be opened, only the sessions of agents that need it fail. */
  #openSocket(): Promise<SessionSocket | PlugboardError> {
    const { clock, logger } = this.#options;
    this.#socket ??= SessionSocket.open({
      path: this.#socketPath,
      clock,
      logger,
      admit: (hello) => this.#admit(hello),
    }).catch((error: unknown) => {
      const message = `the socket ${this.#socketPath} cannot be opened: ${errorMessage(error)}`;
      return new PlugboardError("SYSTEM_ERROR", message, {
        cause: error,
        hint: "the agent reaches its tools through it; check the directory, or set PLUGBOARD_HOME to another one",
      });
    });
    return this.#socket;
  }

  #answerOwn(
    id: string,
    path: string,
    [request, reply]: [IncomingMessage, ServerResponse],
  ): void | Promise<void> {
    const endpoint = this.#byId.get(id);
    return answerAt(endpoint?.path === path ? endpoint : undefined, request, reply);
  }

  async #admit({ session, token }: SessionHello): ReturnType<typeof OpenEndpoint.prototype.admit> {
    const endpoint = this.#byId.get(session);
    // Whoever has no token must not learn which sessions there are.
    if (endpoint === undefined || !endpoint.isToken(token)) {
      return "the session has ended, or this program was started for another one. Open a new session in the editor";
    }
    return endpoint.admit();
  }
}

function answerAt(
  endpoint: OpenEndpoint | undefined,
  request: IncomingMessage,
  reply: ServerResponse,
): void | Promise<void> {
  if (endpoint === undefined) return sendRefusal(reply, refusal(404, GONE));
  const token = bearerToken(request.headers.authorization ?? "");
  if (token !== undefined && endpoint.isToken(token)) return endpoint.answer(request, reply);
  const message = token === undefined ? NO_TOKEN : WRONG_TOKEN;
  return sendRefusal(reply, refusal(401, message, { "WWW-Authenticate": "Bearer" }));
}

function closed(): PlugboardError {
  return new PlugboardError("SYSTEM_ERROR", "the session endpoints are closed");
}
