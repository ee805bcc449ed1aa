// The resources and prompts of a board: their caches, their parts, and what the board's users hear of their changes.

import type { BoardEvents, ResourcesEvent } from "../../types/events.ts";
import type { Logger } from "../../types/logger.ts";
import type { GatewayPort } from "../../types/gateway-port.ts";
import type { Redactor } from "../../redaction/redactor.ts";
import type { Clock } from "../../../util/clock.ts";
import type { Emitter } from "../../../util/emitter.ts";
import type { Calls } from "../calls.ts";
import type { BoardGuard } from "../guard.ts";
import type { ServerSet } from "../server-set.ts";
import { ContentCaches } from "./content-caches.ts";
import { ContentRequests } from "./content-requests.ts";
import { Prompts } from "./prompts.ts";
import { Resources } from "./resources.ts";

export interface BoardContentOptions {
  servers: ServerSet;
  /** The servers that a gateway runs, if there is one. */
  gateway: GatewayPort | undefined;
  guard: BoardGuard;
  calls: Calls;
  clock: Clock;
  logger: Logger;
  redactor: Redactor;
  events: Emitter<BoardEvents>;
  /** For a session's board: that of the agent's. */
  base: BoardContent | undefined;
  /** Whether what the rules refuse is answered as if there were no such thing. */
  hidesRefused: boolean;
  /** Whether the model has the tools to find and read by itself what a block leaves out. */
  hasTools: () => boolean;
  /** A list has just become known, or may have changed. */
  onListed: () => void;
}

export class BoardContent {
  readonly caches: ContentCaches;
  readonly resources: Resources;
  readonly prompts: Prompts;
  readonly #options: BoardContentOptions;
  readonly #offBase: readonly (() => void)[];

  constructor(options: BoardContentOptions) {
    const { servers, guard, calls, clock, logger, redactor, events, base } = options;
    this.#options = options;
    this.caches = new ContentCaches({
      servers,
      guard,
      clock,
      logger,
      base: base?.caches,
      onResources: (event) => this.#tellResources(event),
      onPrompts: (event) => events.emit("prompts", event),
      onListed: options.onListed,
    });
    const parts = {
      gateway: options.gateway,
      caches: this.caches,
      requests: new ContentRequests({ calls, guard }),
      guard,
      redact: <Value>(value: Value): Value => redactor.value(value),
      hidesRefused: options.hidesRefused,
    };
    this.resources = new Resources({
      ...parts,
      hasTools: options.hasTools,
      now: () => clock.monotonic(),
    });
    this.prompts = new Prompts(parts);
    this.#offBase = base === undefined ? [] : this.#repeat(base);
  }

  /** Everything that a server has may be another. */
  tellOf(server: string): void {
    const { events, servers } = this.#options;
    const isGone = servers.get(server) === undefined;
    if (isGone || this.resources.hasListed(server)) {
      events.emit("resources", { server, change: "list", uris: [] });
    }
    if (isGone || this.#hasPrompts(server)) events.emit("prompts", { server });
  }

  #hasPrompts(server: string): boolean {
    const { servers, guard } = this.#options;
    return guard.leaves(servers.named(server).definition, "prompt");
  }

  close(): void {
    for (const off of this.#offBase) off();
    this.caches.close();
  }

  #tellResources(event: ResourcesEvent): void {
    const { events, redactor } = this.#options;
    const { server, change } = event;
    if (change === "list") return events.emit("resources", event);
    const uris = redactor.value(this.resources.nameable(server, event.uris));
    if (uris.length > 0) events.emit("resources", { server, change, uris });
  }

  /** The agent's board reports what changes on shared servers; this board repeats it. */
  #repeat(base: BoardContent): (() => void)[] {
    const { servers, events } = this.#options;
    const isShared = (server: string): boolean =>
      servers.shared().some(({ name }) => name === server);
    return [
      base.#options.events.on("prompts", (event) => {
        const { server } = event;
        if (isShared(server) && this.#hasPrompts(server)) events.emit("prompts", event);
      }),
      base.#options.events.on("resources", (event) => {
        if (!isShared(event.server)) return;
        if (event.change === "list") {
          if (this.resources.hasListed(event.server)) events.emit("resources", event);
          return;
        }
        // Another session may have subscribed to the other URIs.
        const uris = this.resources
          .nameable(event.server, event.uris)
          .filter((uri) => this.resources.isSubscribed(event.server, uri));
        if (uris.length > 0) events.emit("resources", { ...event, uris });
      }),
    ];
  }
}
