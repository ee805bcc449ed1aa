// What a board knows of one server's resources and prompts, and what it has subscribed to there. Outlives
// the connections: after a restart everything is asked for again.

import { compileGlob, type Matcher } from "../../guard/glob.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { PlugboardError } from "../../model/errors.ts";
import type { PromptsEvent, ResourcesEvent } from "../../model/events.ts";
import { type Logger, loggerFor } from "../../model/logger.ts";
import type {
  ServerContent,
  ContentChange,
  PromptList,
  ResourceList,
} from "../../model/server-content.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { oneLine } from "../../util/text.ts";
import { CachedList } from "./cached-list.ts";
import type { ServerEntry } from "../server-entry.ts";

/** How long a list holds where nothing is configured. */
const REFRESH_MS = 300_000;
/** Updates come in bursts; listeners get them together. */
const GATHER_MS = 50;
const MOST_UPDATES = 1000;
const MOST_NOTES = 50;

export interface ContentCacheOptions {
  entry: ServerEntry;
  clock: Clock;
  logger: Logger;
  onResources: (event: ResourcesEvent) => void;
  onPrompts: (event: PromptsEvent) => void;
}

/** Who wants to hear of a resource, by identity. */
export type Subscriber = object;

export class ContentCache {
  readonly entry: ServerEntry;
  readonly resources: CachedList<ResourceList>;
  readonly prompts: CachedList<PromptList>;
  /** Milliseconds that what was read holds. */
  readonly refreshMs: number;
  readonly #options: ContentCacheOptions;
  readonly #logger: Logger;
  readonly #subscribers = new Map<string, Set<Subscriber>>();
  readonly #updated = new Set<string>();
  readonly #notes = new Map<string, Diagnostic>();
  #filter: Matcher[] | undefined;
  #gathering: Timer | undefined;
  /** Each update has one of its own; what was read before it is old. */
  #version = 0;
  readonly #versions = new Map<string, number>();

  constructor(options: ContentCacheOptions) {
    const { entry, clock, onResources, onPrompts } = options;
    this.#options = options;
    this.entry = entry;
    const server = entry.name;
    this.#logger = loggerFor(server, options.logger);
    this.refreshMs = entry.definition.resources?.refreshMs ?? REFRESH_MS;
    const shared = {
      clock,
      content: () => entry.supervisor.live?.content,
      onError: ({ message }: PlugboardError) =>
        this.#logger.warn(`could not list resources or prompts again: ${message}`),
    };
    this.resources = new CachedList<ResourceList>({
      ...shared,
      refreshMs: this.refreshMs,
      ask: (content) => content.listResources(),
      onChange: () => onResources({ server, change: "list", uris: [] }),
    });
    this.prompts = new CachedList<PromptList>({
      ...shared,
      refreshMs: REFRESH_MS,
      ask: (content) => content.listPrompts(),
      onChange: () => onPrompts({ server }),
    });
  }

  get diagnostics(): Diagnostic[] {
    const { resources, prompts } = this;
    return [
      ...(resources.known?.diagnostics ?? []),
      ...(prompts.known?.diagnostics ?? []),
      ...this.#notes.values(),
    ];
  }

  /** Something worth saying once about a URI or a name. */
  note(subject: string, message: string): void {
    if (this.#notes.has(subject) || this.#notes.size >= MOST_NOTES) return;
    const shown = oneLine(subject, 80);
    this.#notes.set(subject, { server: this.entry.name, subject: shown, message });
    this.#logger.warn(message, { subject: shown });
  }

  /** Whether the configuration lets the board list it. */
  allows(uri: string): boolean {
    const { resources } = this.entry.definition;
    if (resources?.enabled === false) return false;
    this.#filter ??= (resources?.filter ?? []).map(compileGlob);
    return this.#filter.length === 0 || this.#filter.some((matches) => matches(uri));
  }

  /** A connection is there, the first or another. */
  connected(content: ServerContent): void {
    content.onChange((change) => this.#hear(change));
    if (this.resources.known !== undefined) this.resources.changed();
    if (this.prompts.known !== undefined) this.prompts.changed();
    for (const uri of this.#subscribers.keys()) {
      content
        .subscribe(uri)
        .catch(({ message }: PlugboardError) =>
          this.#logger.warn(`a subscription could not be renewed: ${message}`, { uri }),
        );
      // What happened meanwhile was not heard.
      this.#update(uri);
    }
  }

  /** Changes with every update of the resource. */
  versionOf(uri: string): number {
    return this.#versions.get(uri) ?? 0;
  }

  async subscribe(content: ServerContent, uri: string, subscriber: Subscriber): Promise<void> {
    const subscribers = this.#subscribers.get(uri) ?? new Set();
    // At once: an update may be heard before it is known that the server will tell of any.
    this.#subscribers.set(uri, subscribers.add(subscriber));
    try {
      await content.subscribe(uri);
    } catch (error) {
      this.#drop(uri, subscriber);
      throw error;
    }
  }

  /** Takes effect on the server when nobody wants it any more. */
  async unsubscribe(uri: string, subscriber: Subscriber): Promise<void> {
    if (this.#drop(uri, subscriber)) await this.entry.supervisor.live?.content.unsubscribe(uri);
  }

  /** Whether one of them has subscribed to it, or to what it is a part of. */
  isHeardBy(subscribers: readonly Subscriber[], uri: string): boolean {
    return [...this.#subscribers].some(
      ([whole, whose]) => uri.startsWith(whole) && subscribers.some((each) => whose.has(each)),
    );
  }

  /** They want to hear of nothing any more. */
  leave(subscribers: readonly Subscriber[]): void {
    for (const uri of this.#subscribers.keys()) {
      for (const each of subscribers) void this.unsubscribe(uri, each).catch(() => {});
    }
  }

  close(): void {
    this.resources.cancel();
    this.prompts.cancel();
    this.#gathering?.cancel();
  }

  /** Whether nobody is left. */
  #drop(uri: string, subscriber: Subscriber): boolean {
    const subscribers = this.#subscribers.get(uri);
    if (!subscribers?.delete(subscriber) || subscribers.size > 0) return false;
    this.#subscribers.delete(uri);
    this.#versions.delete(uri);
    return true;
  }

  #hear(change: ContentChange): void {
    if (change.kind === "resources") this.resources.changed();
    else if (change.kind === "prompts") this.prompts.changed();
    else this.#update(change.uri);
  }

  #update(uri: string): void {
    this.#version += 1;
    // The whole has changed where a part of it has.
    for (const whole of this.#subscribers.keys()) {
      if (uri.startsWith(whole)) this.#versions.set(whole, this.#version);
    }
    if (this.#updated.size >= MOST_UPDATES) return;
    this.#updated.add(uri);
    this.#gathering ??= this.#options.clock.later(GATHER_MS, () => {
      this.#gathering = undefined;
      const uris = [...this.#updated];
      this.#updated.clear();
      const server = this.entry.name;
      this.#options.onResources({ server, change: "updated", uris });
    });
  }
}
