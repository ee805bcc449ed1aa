// The board of one agent as its faces see it.

import type { BoardUse } from "./board-use.ts";
import type { ServerStatus } from "./server-status.ts";
import type { SessionBoard, SessionOptions } from "./session-board.ts";

export type { BoardCallOptions } from "./board-use.ts";

export interface Board extends BoardUse {
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
  /**
   * Lays a board of its own over this one for one session. Resolves when the session's servers are ready,
   * have failed or `startupWait` has passed; a bad server never rejects it, a bad option does, with
   * CONFIG_INVALID or INVALID_ARGUMENTS and before anything has started.
   */
  openSession(options: SessionOptions): Promise<SessionBoard>;
  /** Ends its sessions too. Idempotent; resolves when no process of the board's is left. */
  close(): Promise<void>;
}
