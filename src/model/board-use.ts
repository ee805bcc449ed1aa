// What can be used on a board, be it an agent's or a session's, and the only way to use it.

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

export interface BoardUse extends AsyncDisposable {
  readonly resources: BoardResources;
  readonly prompts: BoardPrompts;
  /**
   * Native tools first, then every server's in the order of the configuration; a session's own servers
   * come last.
   */
  tools(): Tool[];
  /** Calls by public name, or by `server/tool`. Never rejects: failures are outcomes with `isError`. */
  call(name: string, args?: JsonObject, options?: BoardCallOptions): Promise<CallOutcome>;
  status(): ServerStatus[];
  on<Name extends keyof BoardEvents>(
    event: Name,
    listener: (event: BoardEvents[Name]) => void,
  ): () => void;
}
