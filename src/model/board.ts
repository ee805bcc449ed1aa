// The board as its faces see it: what one agent can use, and the only way to use it.

import type { BoardEvents } from "./events.ts";
import type { CallOutcome, Tool, UpdateListener } from "./tool.ts";
import type { JsonObject } from "./json.ts";
import type { BoardPrompts } from "./prompt.ts";
import type { BoardResources } from "./resource.ts";
import type { RequestHandlers } from "./server-request.ts";
import type { ServerStatus } from "./server-status.ts";

/**
 * `onElicitation` and `onSampling` go before the board's own for what this call causes, where that is
 * certain; what is offered to servers is decided by the board's.
 */
export interface BoardCallOptions extends RequestHandlers {
  signal?: AbortSignal;
  onUpdate?: UpdateListener;
}

export interface Board extends AsyncDisposable {
  readonly resources: BoardResources;
  readonly prompts: BoardPrompts;
  /** Native tools first, then every server's in the order of the configuration. */
  tools(): Tool[];
  /** Calls by public name, or by `server/tool`. Never rejects: failures are outcomes with `isError`. */
  call(name: string, args?: JsonObject, options?: BoardCallOptions): Promise<CallOutcome>;
  status(): ServerStatus[];
  on<Name extends keyof BoardEvents>(
    event: Name,
    listener: (event: BoardEvents[Name]) => void,
  ): () => void;
  /** Stops and starts one server; resolves when it is ready or has failed. */
  restart(server: string): Promise<ServerStatus>;
  /** Signs in to a remote server, through `onAuthorization`, and starts it with what was granted. */
  signIn(server: string): Promise<ServerStatus>;
  /** Gives back and forgets its tokens. Resolves to whether there were any, and who was told. */
  signOut(server: string): Promise<"none" | "forgotten" | "revoked">;
  /** Asks every server for its tools again, starting those that are down; resolves when all have answered. */
  refresh(): Promise<ServerStatus[]>;
  /** Other directories, or `file:` URLs, as roots from now on; servers are told. */
  setRoots(roots: readonly string[]): void;
  /** Idempotent; resolves when no process of the board's is left. */
  close(): Promise<void>;
}
