// The resources and prompts of a board, and the caches behind both.

import type { Diagnostic } from "../../model/diagnostic.ts";
import type { BoardEvents } from "../../model/events.ts";
import type { Logger } from "../../model/logger.ts";
import type { Redactor } from "../../secrets/redactor.ts";
import type { Clock } from "../../util/clock.ts";
import type { Emitter } from "../../util/emitter.ts";
import type { BoardGuard } from "../guard.ts";
import type { ServerEntry } from "../server-entry.ts";
import type { ServerSet } from "../server-set.ts";
import { ContentCaches } from "./content-caches.ts";
import { ContentRequests } from "./content-requests.ts";
import { Prompts } from "./prompts.ts";
import { Resources } from "./resources.ts";

export interface BoardContentOptions {
  servers: ServerSet;
  clock: Clock;
  logger: Logger;
  events: Emitter<BoardEvents>;
  redactor: Redactor;
  guard: BoardGuard;
  /** Whether the model has tools to read resources by itself. */
  hasTools: boolean;
  /** For a session's board: the agent's. */
  base?: BoardContent;
}

export class BoardContent {
  readonly resources: Resources;
  readonly prompts: Prompts;
  readonly #caches: ContentCaches;

  constructor(options: BoardContentOptions) {
    const { servers, clock, logger, events, redactor, guard, hasTools, base } = options;
    this.#caches = new ContentCaches({
      servers,
      clock,
      logger,
      base: base && base.#caches,
      onResources: (event) => events.emit("resources", redactor.value(event)),
      onPrompts: (event) => events.emit("prompts", event),
    });
    const contentRequests = new ContentRequests(guard, clock);
    const redact = <Value>(value: Value): Value => redactor.value(value);
    const shared = { contents: this.#caches, contentRequests, guard, redact };
    this.resources = new Resources({ ...shared, hasTools, now: () => clock.monotonic() });
    this.prompts = new Prompts(shared);
  }

  diagnostics(entry: ServerEntry): Diagnostic[] {
    return this.#caches.diagnostics(entry);
  }

  close(): void {
    this.#caches.close();
  }
}
