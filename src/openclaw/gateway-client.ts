// Calls OpenClaw's gateway. One connection opens with the first call and closes when it has been idle for a while, because
// a gateway sends its events to everybody who is connected.

import { connect } from "node:net";
import { PlugboardError } from "../core/types/errors.ts";
import type { JsonObject } from "../core/types/json.ts";
import { pause, type Timer } from "../util/clock.ts";
import {
  type GatewayAddress,
  type GatewayAnswer,
  GatewayConnection,
  type GatewayConnectionOptions,
  type GatewayHello,
  gone,
} from "./gateway-connection.ts";

export interface GatewayClientOptions extends Omit<GatewayConnectionOptions, "timeoutMs"> {
  /** For one connection, and for one call. Default: a minute, which a gateway may need on a busy machine. */
  timeoutMs?: number;
}

const TIMEOUT = 60_000;
const IDLE = 5000;
/** Between two attempts while the gateway is still starting. */
const RETRY = { least: 100, most: 2000 };

export class GatewayClient {
  readonly #address: GatewayAddress;
  readonly #options: GatewayConnectionOptions;
  #connection: Promise<GatewayConnection> | undefined;
  #idle: Timer | undefined;
  #calls = 0;
  readonly #closed = new AbortController();

  constructor(address: GatewayAddress, { timeoutMs = TIMEOUT, ...options }: GatewayClientOptions) {
    this.#address = address;
    this.#options = { ...options, timeoutMs };
  }

  get url(): string {
    return this.#address.url;
  }

  /** Rejects with NETWORK, NEEDS_AUTH, UNSUPPORTED_VERSION, PROTOCOL, TIMEOUT or CONNECTION_CLOSED. */
  async hello(): Promise<GatewayHello> {
    return this.#use(async ({ hello }) => hello);
  }

  /**
   * Rejects as `hello` does. Whatever the gateway itself answers is a value. A connection that was open already may have
   * been lost without our knowledge, so the call is sent again then: it must have the same effect twice.
   */
  async call(method: string, params: JsonObject): Promise<GatewayAnswer> {
    return this.#use((connection) => connection.call(method, params));
  }

  /** Whether anything listens where the gateway is. Costs the gateway less than `hello`. */
  isThere(): Promise<boolean> {
    const { hostname, port, protocol } = new URL(this.url);
    return new Promise((resolve) => {
      const socket = connect({
        host: hostname.replace(/^\[|\]$/g, ""),
        port: Number(port) || (protocol === "wss:" ? 443 : 80),
        timeout: this.#options.timeoutMs,
      });
      const answer = (isThere: boolean): void => {
        socket.destroy();
        resolve(isThere);
      };
      socket.once("connect", () => answer(true));
      socket.once("error", () => answer(false));
      socket.once("timeout", () => answer(false));
    });
  }

  /** Idempotent. Calls that are open are rejected. */
  async close(): Promise<void> {
    this.#closed.abort();
    this.#idle?.cancel();
    const connection = await this.#connection?.catch(() => undefined);
    this.#connection = undefined;
    await connection?.close();
  }

  async #use<Result>(work: (connection: GatewayConnection) => Promise<Result>): Promise<Result> {
    this.#idle?.cancel();
    this.#calls += 1;
    const earlier = this.#connection;
    try {
      return await work(await this.#connect()).catch((error: unknown) => {
        const isLost = error instanceof PlugboardError && error.code === "CONNECTION_CLOSED";
        if (!isLost || earlier === undefined || this.#closed.signal.aborted) throw error;
        return this.#connect().then(work);
      });
    } finally {
      this.#calls -= 1;
      if (this.#calls === 0) {
        this.#idle = this.#options.clock.later(IDLE, () => void this.#disconnect());
      }
    }
  }

  async #connect(): Promise<GatewayConnection> {
    if (this.#closed.signal.aborted) throw gone(this.url);
    const opening = (this.#connection ??= this.#open());
    try {
      const connection = await opening;
      if (connection.isOpen) return connection;
    } catch (error) {
      if (this.#connection === opening) this.#connection = undefined;
      throw error;
    }
    // It was lost since: the gateway was restarted, for example.
    if (this.#connection === opening) this.#connection = undefined;
    return this.#connect();
  }

  async #open(): Promise<GatewayConnection> {
    const { clock, timeoutMs } = this.#options;
    const deadline = clock.monotonic() + timeoutMs;
    for (;;) {
      const left = deadline - clock.monotonic();
      const connection = new GatewayConnection(this.#address, {
        ...this.#options,
        timeoutMs: left,
      });
      // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
      const opened = await connection.open(this.#closed.signal);
      if (opened.kind === "open") return connection;
      const wait = Math.min(Math.max(opened.retryAfterMs, RETRY.least), RETRY.most);
      if (clock.monotonic() + wait >= deadline) throw opened.error;
      // oxlint-disable-next-line no-await-in-loop -- the gateway says how long it needs
      await pause(clock, wait, this.#closed.signal);
    }
  }

  async #disconnect(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await (await connection?.catch(() => undefined))?.close();
  }
}
