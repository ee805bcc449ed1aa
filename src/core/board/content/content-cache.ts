// Caches the resources and prompts of one server, and keeps the subscriptions to its resources. Outlives
// connections: after a restart it lists and subscribes again.

import type { ListedContents } from "../../catalog/content-files.ts";
import type { ContentListing, ListedContent } from "../../guard/pins/pin.ts";
import type { Diagnostic } from "../../types/diagnostic.ts";
import type { PlugboardError } from "../../types/errors.ts";
import type { PromptsEvent, ResourcesEvent } from "../../types/events.ts";
import { type Logger, loggerFor } from "../../types/logger.ts";
import type { PromptArgument } from "../../types/prompt.ts";
import type {
  ServerContent,
  ContentChange,
  PromptList,
  ResourceList,
} from "../../types/server-content.ts";
import { isCallable } from "../../types/server-state.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import { oneLine } from "../../../util/text.ts";
import { CachedList } from "./cached-list.ts";
import { ResourceFilter } from "./resource-filter.ts";
import type { BoardGuard } from "../guard.ts";
import type { ServerEntry } from "../server-entry.ts";

/** How long a list is used, if nothing is configured. */
const REFRESH_MS = 300_000;
/** Updates come in bursts; listeners get those of this time together. */
const GATHER_MS = 50;
/** Updates of more resources at once are not reported. */
const MAX_UPDATES = 1000;
const MAX_WARNINGS = 50;

export interface ContentCacheOptions {
  entry: ServerEntry;
  clock: Clock;
  logger: Logger;
  onResources: (event: ResourcesEvent) => void;
  onPrompts: (event: PromptsEvent) => void;
  /** A list has just become known, or may have changed. */
  onListed: () => void;
  /** Keeps the lists for the next run. */
  save: (entry: ServerEntry, listed: ListedContents) => void;
  guard: Pick<BoardGuard, "checkContent" | "needsList">;
}

/** Identifies who has subscribed to a resource. */
export type Subscriber = object;

export class ContentCache {
  readonly entry: ServerEntry;
  readonly resources: CachedList<ResourceList>;
  readonly prompts: CachedList<PromptList>;
  readonly #options: ContentCacheOptions;
  readonly #logger: Logger;
  /** By URI; each subscriber with the board that it has subscribed on. */
  readonly #subscribers = new Map<string, Map<Subscriber, object | undefined>>();
  readonly #updated = new Set<string>();
  readonly #warnings = new Map<string, Diagnostic>();
  #filter: ResourceFilter;
  /** Entries of the filter that matched nothing in the last list. */
  #unmatched: Diagnostic[] = [];
  #gathering: Timer | undefined;
  /** Grows with every update. A resource that was read at a lower version is outdated. */
  #version = 0;
  readonly #versions = new Map<string, number>();

  constructor(options: ContentCacheOptions) {
    const { entry, clock, onResources, onPrompts, onListed } = options;
    this.#options = options;
    this.entry = entry;
    const server = entry.name;
    this.#logger = loggerFor(server, options.logger);
    this.#filter = filterOf(entry);
    const shared = {
      clock,
      onListed: () => {
        onListed();
        options.save(entry, { resources: this.resources.known, prompts: this.prompts.known });
      },
      content: () => entry.supervisor.live?.content,
      onError: ({ message }: PlugboardError) =>
        this.#logger.warn(`could not list resources or prompts again: ${message}`),
    };
    this.resources = new CachedList<ResourceList>({
      ...shared,
      refreshMs: () => this.refreshMs,
      ask: async (content) => {
        const { missing, ...given } = await content.listResources();
        // What the server does not give now, it has given earlier perhaps.
        const list = {
          ...given,
          ...(missing && { [missing]: this.resources.known?.[missing] ?? [] }),
        };
        this.#checkFilter(list);
        return this.#pinned("resources", list, [
          ...list.resources.map(({ uri, name, title, description, mimeType }) => {
            const details = { name, ...(mimeType !== undefined && { mimeType }) };
            return { kind: "resource" as const, name: uri, title, description, details };
          }),
          ...list.templates.map(({ uriTemplate, name, title, description, mimeType }) => ({
            kind: "resource" as const,
            name: uriTemplate,
            isTemplate: true as const,
            title,
            description,
            details: { name, ...(mimeType !== undefined && { mimeType }) },
          })),
        ]);
      },
      onChange: () => onResources({ server, change: "list", uris: [] }),
    });
    this.prompts = new CachedList<PromptList>({
      ...shared,
      refreshMs: () => REFRESH_MS,
      ask: async (content) => {
        const list = await content.listPrompts();
        const contents = list.prompts.map(({ name, title, description, arguments: args = [] }) => {
          const details = { arguments: args.map(withoutFalse) };
          return { kind: "prompt" as const, name, title, description, details };
        });
        return this.#pinned("prompts", list, contents);
      },
      onChange: () => onPrompts({ server }),
    });
    this.#recall(entry.contents);
  }

  /** Where pins block what has changed, only a list of this run can be compared with them. */
  #recall({ resources, prompts }: ListedContents): void {
    if (this.#options.guard.needsList(this.entry)) return;
    if (resources !== undefined) this.resources.recall(resources);
    if (prompts !== undefined) this.prompts.recall(prompts);
  }

  /** Milliseconds after which a resource in a prompt is read again. */
  get refreshMs(): number {
    return this.entry.definition.resources?.refreshMs ?? REFRESH_MS;
  }

  /** Call this when the settings of the definition have changed. `isPinnedAnew`: so has how its pins are used. */
  settingsChanged(isPinnedAnew: boolean): void {
    this.#filter = filterOf(this.entry);
    const { known } = this.resources;
    if (known !== undefined) this.#checkFilter(known);
    if (!isPinnedAnew) return;
    if (known !== undefined) this.resources.changed();
    if (this.prompts.known !== undefined) this.prompts.changed();
  }

  /** The server as it is listed with each of its resources and prompts. */
  get listedServer(): { server: string; available: boolean } {
    const { name, supervisor } = this.entry;
    return { server: name, available: isCallable(supervisor.state) };
  }

  get diagnostics(): Diagnostic[] {
    const { resources, prompts } = this;
    return [
      ...(resources.known?.diagnostics ?? []),
      ...(prompts.known?.diagnostics ?? []),
      ...this.#unlisted("resources"),
      ...this.#unlisted("prompts"),
      ...this.#unmatched,
      ...this.#warnings.values(),
    ];
  }

  /** That the list was asked for in vain. */
  #unlisted(what: "resources" | "prompts"): Diagnostic[] {
    const { failure } = this[what];
    if (failure === undefined) return [];
    const message = `listing ${what}: ${failure.message}`;
    return [{ server: this.entry.name, message }];
  }

  /** Warns that other servers have a resource or prompt of the same name too. */
  warnIfElsewhere(kind: string, subject: string, others: readonly { from: ContentCache }[]): void {
    if (others.length === 0) return;
    const names = others.map(({ from }) => `'${from.entry.name}'`).join(", ");
    this.warnOnce(subject, `the ${kind} is also on ${names}; without a server this one is used`);
  }

  /** Logs and keeps a warning about a URI or a prompt, once for each. */
  warnOnce(subject: string, message: string): void {
    if (this.#warnings.has(subject) || this.#warnings.size >= MAX_WARNINGS) return;
    const shown = oneLine(subject, 80);
    this.#warnings.set(subject, { server: this.entry.name, subject: shown, message });
    this.#logger.warn(message, { subject: shown });
  }

  /** Whether the configuration allows the resource to be listed and read. */
  allows(uri: string): boolean {
    const { resources } = this.entry.definition;
    if (resources?.enabled === false) return false;
    return this.#filter.allows(uri);
  }

  /** Call this with every new connection to the server. */
  connected(content: ServerContent): void {
    content.onChange((change) => this.#onChange(change));
    this.resources.connected(content.has.resources);
    this.prompts.connected(content.has.prompts);
    for (const [uri, subscribers] of this.#subscribers) {
      const [board] = subscribers.values();
      content
        .subscribe(uri, board)
        .catch(({ message }: PlugboardError) =>
          this.#logger.warn(`a subscription could not be renewed: ${message}`, { uri }),
        );
      // The resource may have changed while there was no connection.
      this.#update(uri);
    }
  }

  /** Its server takes the place of another: who had subscribed there hears of this one's resources. */
  takeOver(predecessor: ContentCache): void {
    for (const [uri, subscribers] of predecessor.#subscribers)
      this.#subscribers.set(uri, subscribers);
  }

  /** Changes with every update of the resource. */
  versionOf(uri: string): number {
    return this.#versions.get(uri) ?? 0;
  }

  async subscribe(
    content: ServerContent,
    uri: string,
    subscriber: Subscriber,
    board?: object,
  ): Promise<void> {
    const subscribers = this.#subscribers.get(uri) ?? new Map<Subscriber, object | undefined>();
    // Comes before the request: the first update can arrive before the server's answer.
    this.#subscribers.set(uri, subscribers.set(subscriber, board));
    try {
      await content.subscribe(uri, board);
    } catch (error) {
      this.#drop(uri, subscriber);
      throw error;
    }
  }

  /** Unsubscribes from the server when the last subscriber is gone. */
  async unsubscribe(uri: string, subscriber: Subscriber): Promise<void> {
    const board = this.#subscribers.get(uri)?.get(subscriber);
    if (!this.#drop(uri, subscriber)) return;
    await this.entry.supervisor.live?.content.unsubscribe(uri, board);
  }

  /** What somebody has subscribed to: the resource, or those that it is a part of. */
  subscribedWholes(uri: string): string[] {
    return [...this.#subscribers.keys()].filter((whole) => uri.startsWith(whole));
  }

  /** Whether one of them has subscribed to the resource, or to one that it is a part of. */
  isSubscribed(subscribers: readonly Subscriber[], uri: string): boolean {
    return this.subscribedWholes(uri).some((whole) =>
      subscribers.some((each) => this.#subscribers.get(whole)?.has(each)),
    );
  }

  unsubscribeAll(subscribers: readonly Subscriber[]): void {
    for (const uri of this.#subscribers.keys()) {
      for (const each of subscribers) void this.unsubscribe(uri, each).catch(() => {});
    }
  }

  close(): void {
    this.resources.cancel();
    this.prompts.cancel();
    this.#gathering?.cancel();
  }

  /** The list with what its pins have to say. */
  async #pinned<List extends { diagnostics: Diagnostic[] }>(
    listing: ContentListing,
    list: List,
    contents: readonly ListedContent[],
  ): Promise<List> {
    const found = await this.#options.guard.checkContent(this.entry, listing, contents);
    const told = new Set((this[listing].known?.diagnostics ?? []).map(({ message }) => message));
    for (const { message, subject } of found) {
      if (!told.has(message)) this.#logger.warn(message, { subject });
    }
    return { ...list, diagnostics: [...list.diagnostics, ...found] };
  }

  #checkFilter(list: ResourceList): void {
    const told = new Set(this.#unmatched.map(({ message }) => message));
    const { name } = this.entry;
    this.#unmatched = this.#filter.unmatched(list).map((text) => ({
      server: name,
      message: `the entry "${oneLine(text, 80)}" of "resourceFilter" matches no resource of the server`,
      kind: "filter" as const,
    }));
    for (const { message } of this.#unmatched) if (!told.has(message)) this.#logger.warn(message);
  }

  /** Returns whether this was the last subscriber. */
  #drop(uri: string, subscriber: Subscriber): boolean {
    const subscribers = this.#subscribers.get(uri);
    if (!subscribers?.delete(subscriber) || subscribers.size > 0) return false;
    this.#subscribers.delete(uri);
    this.#versions.delete(uri);
    return true;
  }

  /** Another gateway has seen that the lists of a server are others. Resolves when those that are known were listed again. */
  async listAgain(): Promise<void> {
    const known = [this.resources, this.prompts].filter((each) => each.known !== undefined);
    await Promise.all(known.map((each) => each.listAgain()));
  }

  #onChange(change: ContentChange): void {
    if (change.kind === "resources") this.resources.changed();
    else if (change.kind === "prompts") this.prompts.changed();
    else this.#update(change.uri);
  }

  #update(uri: string): void {
    this.#version += 1;
    // A resource has changed if a part of it has.
    for (const whole of this.subscribedWholes(uri)) this.#versions.set(whole, this.#version);
    if (this.#updated.size >= MAX_UPDATES) return;
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

function filterOf({ definition }: ServerEntry): ResourceFilter {
  return new ResourceFilter(definition.resources?.filter ?? []);
}

/** To say that an argument is not required is to say nothing: pins have always left it out. */
function withoutFalse({ required, ...argument }: PromptArgument): PromptArgument {
  return required ? { ...argument, required } : argument;
}
