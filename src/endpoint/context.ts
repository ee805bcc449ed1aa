// What the methods of an endpoint share.

import type { AskElsewhere } from "../model/approval.ts";
import type { BoardBase } from "../model/board.ts";
import type { Logger } from "../model/logger.ts";
import type { Clock } from "../util/clock.ts";
import type { Changes } from "./changes.ts";
import type { HeldCalls } from "./questions/held-calls.ts";
import type { Sealer } from "./sealed.ts";

/** What an endpoint needs of a board: an agent's, a session's, or one in another process. */
export type EndpointBoard = Pick<
  BoardBase,
  "tools" | "call" | "resources" | "prompts" | "status" | "instructions" | "setLogLevel" | "on"
>;

export interface EndpointOptions {
  board: EndpointBoard;
  /** Seals what a client has to bring back. */
  sealer: Sealer;
  /** Makes ids that nobody can guess. */
  newId: () => string;
  clock: Clock;
  logger: Logger;
  /** Decides about calls that need approval where the client cannot ask its user. Absent: they are refused. */
  onApproval?: AskElsewhere;
  /** The roots of the client, where all clients of the endpoint are one: those of the board's own servers. */
  onRoots?: (roots: readonly string[]) => void;
}

export interface EndpointContext extends EndpointOptions {
  readonly changes: Changes;
  readonly subscriptions: Subscriptions;
  readonly held: HeldCalls;
  /** Whether people must be told which server says something: not where there is only one. */
  readonly namesServer: () => boolean;
  /** Calls `end` when the endpoint closes. Returns a function that forgets it. */
  readonly listening: (end: () => void) => () => void;
}

/** The board's subscriptions to resources, under the URIs that clients know. */
export interface Subscriptions {
  /** The board subscribes once, however many clients want it. */
  add(uri: string): Promise<void>;
  remove(uri: string): Promise<void>;
}
