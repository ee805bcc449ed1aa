// What the page knows about the configuration file, which the gateway itself does not read: whoever starts the gateway gives
// it along.

import type { AddSource, FoundOffer, PageRequests, ServerEntryFacts } from "./wire.ts";

/** Every function rejects with a PlugboardError. */
export interface PageConfiguration {
  /** Searches the registry. */
  search: (words: string) => Promise<PageRequests["add/search"]["gives"]>;
  /** What could be added from there. Starts nothing. */
  read: (source: AddSource) => Promise<FoundOffer[]>;
  entry: (agent: string, server: string) => Promise<ServerEntryFacts>;
}
