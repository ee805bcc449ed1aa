// Puts together what a board has beside tools: what its servers content, and the two ways to it.

import type { BoardEvents } from "../model/events.ts";
import type { Logger } from "../model/logger.ts";
import type { Redactor } from "../secrets/redactor.ts";
import type { Clock } from "../util/clock.ts";
import type { Emitter } from "../util/emitter.ts";
import { ContentRequests } from "./content-requests.ts";
import type { BoardGuard } from "./guard.ts";
import { ContentCaches } from "./content-caches.ts";
import { Prompts } from "./prompts.ts";
import { Resources } from "./resources.ts";
import type { Slot } from "./slot.ts";

export interface OfferingOptions {
  slots: ReadonlyMap<string, Slot>;
  clock: Clock;
  logger: Logger;
  events: Emitter<BoardEvents>;
  redactor: Redactor;
  guard: BoardGuard;
  /** A model has the tools to read by itself. */
  hasTools: boolean;
  /** Of the board that this one is laid over. */
  shared?: ContentCaches;
}

export interface Offering {
  contents: ContentCaches;
  resources: Resources;
  prompts: Prompts;
}

export function createOffering(options: OfferingOptions): Offering {
  const { slots, clock, logger, events, redactor, guard, hasTools } = options;
  const { shared: lower } = options;
  const contents = new ContentCaches({
    slots,
    clock,
    logger,
    ...(lower !== undefined && { shared: lower }),
    onResources: (event) => events.emit("resources", redactor.value(event)),
    onPrompts: (event) => events.emit("prompts", event),
  });
  const contentRequests = new ContentRequests(guard, clock);
  const redact = <Value>(value: Value): Value => redactor.value(value);
  const shared = { contents, contentRequests, guard, redact };
  return {
    contents,
    resources: new Resources({ ...shared, hasTools, now: () => clock.monotonic() }),
    prompts: new Prompts(shared),
  };
}
