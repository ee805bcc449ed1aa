// Where somebody can listen to what goes over a server's connections. Each message pays for one look at `listener` while
// nobody does.

import type { GuardedResponse } from "../net/fetch.ts";
import type { Clock } from "../../util/clock.ts";

/** What went over a connection, unchanged: secrets are still in it. */
export type Tapped =
  | { kind: "sent" | "received"; text: string }
  | { kind: "stderr"; text: string }
  | {
      kind: "http";
      method: string;
      status: number;
      ms: number;
      contentType: string | undefined;
      session: string | undefined;
    };

export interface Tap {
  /** Undefined while nobody listens. Must not throw. */
  readonly listener: ((tapped: Tapped) => void) | undefined;
}

/** The response, after the tap has heard of it. `method` is that of HTTP, `session` the id that was sent. */
export async function tapped(
  sending: Promise<GuardedResponse>,
  { method, session }: { method: string; session?: string | undefined },
  tap: Tap,
  clock: Clock,
): Promise<GuardedResponse> {
  const started = clock.monotonic();
  const response = await sending;
  const { status, headers } = response;
  tap.listener?.({
    kind: "http",
    method,
    status,
    ms: clock.monotonic() - started,
    contentType: headers["content-type"],
    session: headers["mcp-session-id"] ?? session,
  });
  return response;
}
