// What the methods of an endpoint share.

import type { AskElsewhere } from "../../core/types/approval.ts";
import type { BoardBase, BoardCallOptions } from "../../core/types/board.ts";
import type { Caller } from "../../core/types/caller.ts";
import type { Logger } from "../../core/types/logger.ts";
import type { Clock } from "../../util/clock.ts";
import type { JsonObject } from "../../core/types/json.ts";
import type { CallOutcome } from "../../core/types/tool.ts";
import type { LightSignal } from "../../util/abort.ts";
import type { Shares } from "../../util/shares.ts";
import type { Changes } from "./changes.ts";
import type { HeldCalls } from "./questions/held-calls.ts";
import type { SharedQuestions } from "./questions/shared-questions.ts";
import type { Sealer } from "./sealed.ts";
import type { Subscriptions } from "./subscriptions.ts";
import type { Spans } from "./spans.ts";

/** What an endpoint needs of a board: an agent's, a session's, or one in another process. */
export interface EndpointBoard extends Pick<
  BoardBase,
  | "tools"
  | "find"
  | "search"
  | "call"
  | "resources"
  | "prompts"
  | "status"
  | "instructions"
  | "setLogLevel"
  | "on"
> {
  /** A call without an AbortSignal, on a board that can be served as fast as that. */
  callUntil?(
    signal: LightSignal,
    name: string,
    args: JsonObject,
    options: BoardCallOptions,
  ): Promise<CallOutcome>;
}

export interface EndpointOptions {
  board: EndpointBoard;
  /** The agent whose board it is. What a client has to bring back is good for this agent alone. */
  agent?: string;
  /** Seals what a client has to bring back. */
  sealer: Sealer;
  /** Names this gateway among several that a client may come back to. */
  home?: string | undefined;
  /** Makes ids that nobody can guess. */
  newId: () => string;
  clock: Clock;
  logger: Logger;
  /**
   * Who answers what comes up in the middle of a call: whether it may be made, a server's form or page, and sampling. The
   * client that made the call, which is the default, or the board's own handlers: then the client is asked nothing.
   */
  questions?: "client" | "board";
  /** Decides about calls that need approval where the client cannot ask its user. Absent: they are refused. */
  onApproval?: AskElsewhere;
  /** The roots of the client, where all clients of the endpoint are one: those of the board's own servers. */
  onRoots?: (roots: readonly string[]) => void;
  /**
   * Whether what a server logs may be about somebody else's call, if it does not say about which. Clients are not told
   * then. Absent: never.
   */
  mayLogForOthers?: (server: string) => boolean;
  /** Clients are told which state a server is in, and not in whose words it failed: they are not the owner's. */
  isForOthers?: boolean;
  /** Each client makes calls of many callers, as another gateway does. */
  isForMany?: boolean;
  /** What clients are told about the board as a whole, before what its servers say. */
  about?: () => string | undefined;
  /** Leaves the URIs of apps as they are, because there is only one server. */
  keepsApps?: () => boolean;
  /**
   * Clients are told of resources and prompts only if the board has some when they begin: some agents give their model
   * tools to look for them. Default false: a server may get some later.
   */
  onlyPresent?: boolean;
  /** Clients get a search for tools in place of the tools. */
  search?: boolean;
  /** How many subscriptions callers have, if other endpoints count with this one. */
  subscriptionShares?: Shares;
  /** Makes a span of each call. */
  spans?: Spans;
  /** Counts the calls, reads and prompts of each caller. Absent: nobody has a quota. */
  countCall?: CountCall;
}

/** Undefined for a caller without a quota. */
export type CountCall = (
  caller: Caller,
) => CountedCall | undefined | Promise<CountedCall | undefined>;

/** `refused`: why it may not be made, in words for a model. `end`: to be called when it has ended. */
export type CountedCall = { refused: string } | { end: () => void };

export interface EndpointContext extends EndpointOptions {
  readonly subscriptionShares: Shares;
  readonly changes: Changes;
  readonly subscriptions: Subscriptions;
  readonly held: HeldCalls;
  readonly shared: SharedQuestions;
  /** How the clients of running calls are told what their call waits for, by the id of the call. */
  readonly waiting: Map<string, (message: string) => void>;
  /** Whether people must be told which server says something: not where there is only one. */
  readonly namesServer: () => boolean;
  readonly hasServer: (name: string) => boolean;
  /** The server of a listed tool. */
  readonly serverOf: (tool: string) => string | undefined;
  /** Calls `end` when the endpoint closes. Returns a function that forgets it. */
  readonly listening: (end: () => void) => () => void;
}
