// Makes the calls: to a server through its supervisor, or to the host's own tool. Every way a call can end
// is an outcome.

import { randomUUID } from "node:crypto";
import { toFailure } from "../bridge/failure.ts";
import { toOutcome } from "../bridge/outcome.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import type { BoardCallOptions } from "../model/board.ts";
import type { CallOptions } from "../model/connection.ts";
import { cancelled, toPlugboardError } from "../model/errors.ts";
import type { BoardEvents } from "../model/events.ts";
import type { JsonObject } from "../model/json.ts";
import type { Logger } from "../model/logger.ts";
import type {
  CallOutcome,
  NativeTool,
  Progress,
  ToolSource,
  ToolUpdate,
  UpdateListener,
} from "../model/tool.ts";
import type { Supervisor } from "../server/supervisor.ts";
import type { Clock } from "../util/clock.ts";
import type { Emitter } from "../util/emitter.ts";

/** How long progress may extend a call. */
const CALL_CEILING_MS = 600_000;

export class Calls {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #events: Emitter<BoardEvents>;

  constructor(clock: Clock, logger: Logger, events: Emitter<BoardEvents>) {
    this.#clock = clock;
    this.#logger = logger;
    this.#events = events;
  }

  async server(
    supervisor: Supervisor,
    entry: CatalogEntry,
    args: JsonObject,
    options: BoardCallOptions,
  ): Promise<CallOutcome> {
    const { server, tool } = entry;
    const started = this.#clock.monotonic();
    let outcome: CallOutcome;
    supervisor.enter();
    try {
      const connection = supervisor.live ?? (await supervisor.acquire(options.signal));
      outcome = toOutcome(
        await connection.callTool(tool.name, args, this.#callOptions(supervisor, options)),
      );
    } catch (error) {
      outcome = toFailure(error, { server, tool: tool.name });
    }
    const durationMs = this.#clock.monotonic() - started;
    supervisor.leave(durationMs, outcome.failure !== undefined);
    this.#report(entry.publicName, { kind: "mcp", server, tool: tool.name }, durationMs, outcome);
    return outcome;
  }

  #callOptions(supervisor: Supervisor, { signal, onUpdate }: BoardCallOptions): CallOptions {
    const options: CallOptions = {
      timeout: supervisor.definition.toolTimeout,
      ceiling: CALL_CEILING_MS,
    };
    if (signal !== undefined) options.signal = signal;
    if (onUpdate !== undefined) {
      options.onProgress = (progress) => this.#update(onUpdate, progressUpdate(progress));
    }
    return options;
  }

  async native(
    tool: NativeTool,
    args: JsonObject,
    { signal, onUpdate }: BoardCallOptions,
  ): Promise<CallOutcome> {
    const started = this.#clock.monotonic();
    let outcome: CallOutcome;
    try {
      if (signal?.aborted) throw cancelled();
      const update = onUpdate && ((each: ToolUpdate) => this.#update(onUpdate, each));
      const { details: _, ...result } = await tool.execute(randomUUID(), args, signal, update);
      outcome = result;
    } catch (error) {
      outcome = toFailure(toPlugboardError(error, signal?.aborted ? "CANCELLED" : "TOOL_FAILED"));
    }
    const durationMs = this.#clock.monotonic() - started;
    this.#report(tool.name, { kind: "native" }, durationMs, outcome);
    return outcome;
  }

  #report(tool: string, source: ToolSource, durationMs: number, outcome: CallOutcome): void {
    const { failure, isError = false } = outcome;
    this.#logger.debug("call", { tool, ms: durationMs, ...(isError && { isError }) });
    if (!this.#events.has("call")) return;
    this.#events.emit("call", {
      tool,
      source,
      durationMs,
      isError,
      ...(failure !== undefined && { failure }),
    });
  }

  #update(listener: UpdateListener, update: ToolUpdate): void {
    try {
      listener(update);
    } catch (error) {
      this.#logger.error("an update listener threw", { reason: String(error) });
    }
  }
}

function progressUpdate(progress: Progress): ToolUpdate {
  const { message } = progress;
  return { content: message === undefined ? [] : [{ type: "text", text: message }], progress };
}
