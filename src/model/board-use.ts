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
  /**
   * Your own id for the call, made up where you give none. Native tools get it as their first argument;
   * approval requests and the questions a server asks because of the call carry it.
   */
  callId?: string;
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
  /**
   * The tool of that name: its public name, `server/tool`, or the tool's own name where only one has it.
   * Servers whose tools are not known yet are started and waited for. A tool that the rules hide is found as
   * well; its call is refused. Rejects with UNKNOWN_TOOL and the nearest names, with SERVER_UNAVAILABLE where
   * a server that cannot be asked may have it, or with CANCELLED.
   */
  find(name: string, options?: { signal?: AbortSignal }): Promise<Tool>;
  /** Calls by public name, or by `server/tool`. Never rejects: failures are outcomes with `isError`. */
  call(name: string, args?: JsonObject, options?: BoardCallOptions): Promise<CallOutcome>;
  status(): ServerStatus[];
  on<Name extends keyof BoardEvents>(
    event: Name,
    listener: (event: BoardEvents[Name]) => void,
  ): () => void;
}
