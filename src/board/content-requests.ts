// Requests to a server that are no call of a tool: on record and without secrets like one, under no rule
// for tools. They wait for a start, count as use and have the server's `toolTimeout`.

import { randomUUID } from "node:crypto";
import type { GuardedCall } from "../model/guard.ts";
import { PlugboardError, toPlugboardError } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import type { ServerContent, ContentRequest } from "../model/server-content.ts";
import type { CallOutcome } from "../model/tool.ts";
import type { Clock } from "../util/clock.ts";
import { oneLine } from "../util/text.ts";
import type { BoardGuard } from "./guard.ts";
import type { Slot } from "./slot.ts";

export interface BoardContentRequest {
  slot: Slot;
  /** What it is, for the record and for messages: `read:file:///notes.txt`. */
  what: string;
  args: JsonObject;
  signal: AbortSignal | undefined;
  /** Milliseconds, where the server's own are too many. */
  timeout?: number;
  ask: (content: ServerContent, request: ContentRequest) => Promise<CallOutcome>;
}

export class ContentRequests {
  readonly #guard: Pick<BoardGuard, "aside">;
  readonly #clock: Clock;

  constructor(guard: Pick<BoardGuard, "aside">, clock: Clock) {
    this.#guard = guard;
    this.#clock = clock;
  }

  /** Rejects with a PlugboardError alone. */
  async run(aside: BoardContentRequest): Promise<CallOutcome> {
    const { slot, what, args, signal } = aside;
    const { name: server, origin } = slot.definition;
    const subject: GuardedCall["subject"] = {
      canonical: `${server}/${what}`,
      publicName: what,
      source: { kind: "mcp", server, tool: what },
      origin,
      ownerOnly: false,
      hash: "",
    };
    const guarded = this.#guard.aside(subject, () => this.#ask(aside));
    return guarded({
      callId: randomUUID(),
      subject,
      args,
      signal,
      onUpdate: undefined,
      decision: { verdict: "allowed" },
    });
  }

  async #ask({ slot, what, signal, timeout, ask }: BoardContentRequest): Promise<CallOutcome> {
    const { supervisor, definition } = slot;
    const started = this.#clock.monotonic();
    let failed = true;
    supervisor.enter();
    try {
      const connection = supervisor.live ?? (await supervisor.acquire(signal));
      const outcome = await ask(connection.content, {
        timeout: Math.min(definition.toolTimeout, timeout ?? Infinity),
        ...(signal !== undefined && { signal }),
      });
      failed = false;
      return outcome;
    } catch (error) {
      throw named(toPlugboardError(error, "PROTOCOL"), definition.name, what);
    } finally {
      supervisor.leave(this.#clock.monotonic() - started, failed);
    }
  }
}

/** Says whose words they are, unless they do already. */
function named(error: PlugboardError, server: string, what: string): PlugboardError {
  if (error.code === "CANCELLED" || error.code === "SERVER_UNAVAILABLE") return error;
  const message = `server '${server}', ${oneLine(what, 200)}: ${error.message}`;
  return new PlugboardError(error.code, message, {
    cause: error,
    server,
    ...(error.hint !== undefined && { hint: error.hint }),
    ...(error.status !== undefined && { status: error.status }),
  });
}
