// The one token of a worker: it is in the configuration, and nobody adds or revokes it here.

import { createHash, timingSafeEqual } from "node:crypto";
import { PlugboardError } from "../types/errors.ts";
import { DEFAULT_TOKEN, type GatewayToken, type TokenStore } from "../types/shared-state.ts";

export class WorkerToken implements TokenStore {
  readonly defaultFile: string;
  readonly #text: string;
  readonly #hash: Buffer;
  // The board is for whoever has it: what guards a call is elsewhere.
  readonly #token: GatewayToken = { id: DEFAULT_TOKEN, name: "worker", createdAt: 0 };

  /** `where` names it for people. */
  constructor(text: string, where: string) {
    this.#text = text;
    this.#hash = hashOf(text);
    this.defaultFile = where;
  }

  find(text: string): GatewayToken | undefined {
    return timingSafeEqual(hashOf(text), this.#hash) ? this.#token : undefined;
  }

  current(id: string): GatewayToken | undefined {
    return id === DEFAULT_TOKEN ? this.#token : undefined;
  }

  async ensureDefault(): Promise<string> {
    return this.#text;
  }

  async list(): Promise<GatewayToken[]> {
    return [this.#token];
  }

  add(): Promise<never> {
    return Promise.reject(fixed(this.defaultFile));
  }

  revoke(): Promise<never> {
    return Promise.reject(fixed(this.defaultFile));
  }

  signOut(): Promise<never> {
    return Promise.reject(fixed(this.defaultFile));
  }

  signedOutUntil(): number {
    return -Infinity;
  }

  async close(): Promise<void> {}
}

function fixed(where: string): PlugboardError {
  return new PlugboardError("UNSUPPORTED", `a worker has one token, which is ${where}`, {
    hint: "change it in the configuration of all gateways",
  });
}

function hashOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
