// What an endpoint asks of the gateways that serve the same clients on other machines: which of them has what a request
// goes on with, and to answer it there. serve/gateway/replicas/ knows how they are reached.

import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestId } from "../message.ts";
import type { Sender } from "./sessions.ts";

/** A request as its client sent it, and whoever waits for the answer. */
export interface ReceivedRequest {
  request: IncomingMessage;
  reply: ServerResponse;
  sender: Sender;
  body: readonly Buffer[];
}

export type ForwardResult =
  | { kind: "answered" }
  /**
   * Nobody has got the request, and its client no answer yet. `canMove`: what was there can go on in another gateway, since
   * all of them reach each other.
   */
  | { kind: "gone"; why: string; canMove?: boolean };

/** Why there is no answer of the other gateway: nothing was sent, it was refused there, or the connection broke. */
export type Unanswered = "too many" | "not taken" | "may have run";

export interface Elsewhere {
  /** Names this gateway in what is sealed for a client. */
  readonly home: string;
  /** Names it where clients see it. */
  readonly tag: string;
  /** The home where a question with this id was asked. Undefined: here, or nowhere that is known. */
  askerOf(question: RequestId): string | undefined;
  /** The home that holds the call that a client comes back to. Undefined: here, or none does. */
  holderOf(requestState: unknown): string | undefined;
  /** Has the request answered at its home: sent once, whatever happens. Never rejects. */
  forward(home: string, received: ReceivedRequest): Promise<ForwardResult>;
  /** Shows the request to all others, whose answers do not count. */
  tellAll(received: Omit<ReceivedRequest, "reply">): void;
  /** `forward`, for a part of what a client has sent, whose answer does not count. */
  tell(home: string, received: Omit<ReceivedRequest, "reply">): void;
}

/** The hash that a gateway signs when it forwards a body. */
export function bodyHash(body: readonly Buffer[]): string {
  const hash = createHash("sha256");
  for (const chunk of body) hash.update(chunk);
  return hash.digest("base64url");
}
