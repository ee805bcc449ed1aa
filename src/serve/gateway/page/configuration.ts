// What the page knows about the configuration file, which the gateway itself does not read: whoever starts the gateway gives
// it along.

import type { AddSource, OfferFacts, PageRequests, ServerEntryFacts, UploadFacts } from "./wire.ts";

/** Every function rejects with a PlugboardError. */
export interface PageConfiguration {
  /** Searches the registry. */
  search: (words: string) => Promise<PageRequests["add/search"]["gives"]>;
  /** What could be added from there. Starts nothing. */
  read: (source: AddSource) => Promise<OfferFacts[]>;
  /** Takes a bundle, of which nothing is started. `name` is what its owner calls the file. */
  upload: (name: string, chunks: AsyncIterable<Buffer>) => Promise<UploadFacts>;
  entry: (agent: string, server: string) => Promise<ServerEntryFacts>;
}
