// Puts together what a board has beside tools: what its servers offer, and the two ways to it.

import type { BoardEvents } from "../model/events.ts";
import type { Logger } from "../model/logger.ts";
import type { Redactor } from "../secrets/redactor.ts";
import type { Clock } from "../util/clock.ts";
import type { Emitter } from "../util/emitter.ts";
import { Asides } from "./asides.ts";
import type { BoardGuard } from "./guard.ts";
import { Offers } from "./offers.ts";
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
  shared?: Offers;
}

export interface Offering {
  offers: Offers;
  resources: Resources;
  prompts: Prompts;
}

export function createOffering(options: OfferingOptions): Offering {
  const { slots, clock, logger, events, redactor, guard, hasTools } = options;
  const { shared: lower } = options;
  const offers = new Offers({
    slots,
    clock,
    logger,
    ...(lower !== undefined && { shared: lower }),
    onResources: (event) => events.emit("resources", redactor.value(event)),
    onPrompts: (event) => events.emit("prompts", event),
  });
  const asides = new Asides(guard, clock);
  const redact = <Value>(value: Value): Value => redactor.value(value);
  const shared = { offers, asides, guard, redact };
  return {
    offers,
    resources: new Resources({ ...shared, hasTools, now: () => clock.monotonic() }),
    prompts: new Prompts(shared),
  };
}
