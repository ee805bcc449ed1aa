// `/api/events`: what the boards and the gateway do, as server-sent events. The last ones are kept, so that a reader who
// was away goes on where it stopped. Before the first reader comes, nothing is kept: every reader begins with the state
// of everything, and there are two events to each call.

import type { IncomingMessage, ServerResponse } from "node:http";
import { KEEP_ALIVE_MS, STREAM_HEADERS } from "../../endpoint/http/reply.ts";
import { jsonOfAnyDepth } from "../../../util/canonical-json.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import { Shares } from "../../../util/shares.ts";

/** How many events are kept. */
const KEPT = 4096;
/** How many characters are kept of events that say how large they are. */
const MOST_SIZE = 8 * 1024 * 1024;
/** Events within this time are sent together. */
const FLUSH_MS = 25;
/** What may wait for a slow reader before it is cut off. It comes back with the id of the last event it has read. */
const MOST_UNREAD = 1024 * 1024;
/** Each caller has a quarter: somebody else's token must not keep an operator from what happens. */
const MOST_READERS = 32;

interface GatewayEvent {
  name: string;
  /** Milliseconds since the epoch. */
  at: number;
  data: object;
  size: number;
  /** The one caller who sees it, besides those who see everything. */
  only: string | undefined;
}

/** What a reader sees who does not see everything. */
export interface EventView {
  /** An event as the reader gets it; undefined if it gets nothing of it. */
  event: (name: string, data: object, only: string | undefined) => object | undefined;
}

export interface EventsOptions<View extends EventView = EventView> {
  clock: Clock;
  /** Tells the ids of this run from those of an earlier one. */
  run: string;
  /** The state of everything that a reader may see, which it gets first. */
  snapshot: (view: View | undefined) => object;
}

type EventListener = (name: string, data: object) => void;

export class GatewayEvents<View extends EventView = EventView> {
  readonly #options: EventsOptions<View>;
  /** A ring: the event with number n is at n modulo its size. */
  readonly #ring: (GatewayEvent | undefined)[] = Array.from({ length: KEPT });
  /** How many events there have been. */
  #count = 0;
  /** The number of the oldest one that is kept, and how large all of them are. */
  #oldest = 0;
  #size = 0;
  /** How many of them have been sent to readers. */
  #sent = 0;
  readonly #readers = new Map<ServerResponse, View | undefined>();
  readonly #shares = new Shares(MOST_READERS);
  readonly #listeners = new Set<EventListener>();
  /** The number of the last event about each thing. */
  readonly #lastAbout = new Map<string, number>();
  #isKept = false;
  #flush: Timer | undefined;
  #keepAlive: Timer | undefined;

  constructor(options: EventsOptions<View>) {
    this.#options = options;
  }

  /** False until somebody has read them. Who makes many events asks first. */
  get isKept(): boolean {
    return this.#isKept;
  }

  /** Hears of every event from now on. Returns a function that ends it. */
  listen(listener: EventListener): () => void {
    this.#isKept = true;
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * `data` must not change any more. With `about`, it replaces the last event about the same thing, which nobody needs
   * any more. Who makes large events says how many characters `size` they have. With `only`, it is for that caller, and for
   * those who see everything.
   */
  add(
    name: string,
    data: object,
    { about, size = 0, only }: { about?: string; size?: number; only?: string } = {},
  ): void {
    if (!this.#isKept) return;
    if (about !== undefined) this.#replace(about);
    for (const listener of this.#listeners) listener(name, data);
    const at = this.#options.clock.now();
    if (this.#count - this.#oldest >= KEPT) this.#dropOldest();
    this.#ring[this.#count % KEPT] = { name, at, data, size, only };
    this.#count += 1;
    this.#size += size;
    while (this.#size > MOST_SIZE && this.#oldest < this.#count - 1) this.#dropOldest();
    if (this.#readers.size > 0) this.#flush ??= this.#options.clock.later(FLUSH_MS, this.#send);
  }

  #replace(about: string): void {
    const last = this.#lastAbout.get(about);
    if (last !== undefined && last >= this.#oldest) this.#drop(last);
    this.#lastAbout.set(about, this.#count);
  }

  #dropOldest(): void {
    this.#drop(this.#oldest);
    this.#oldest += 1;
  }

  #drop(number: number): void {
    this.#size -= this.#ring[number % KEPT]?.size ?? 0;
    this.#ring[number % KEPT] = undefined;
  }

  /** Nobody reads them any more. What happens from now on is not kept, and a reader who comes back begins anew. */
  forget(): void {
    this.#ring.fill(undefined);
    this.#lastAbout.clear();
    this.#size = 0;
    // The number that is left out stands for what happens meanwhile.
    this.#count += 1;
    this.#oldest = this.#count;
    this.#sent = this.#count;
    this.#isKept = false;
  }

  /** Answers a request of `caller` with the stream. */
  open(request: IncomingMessage, reply: ServerResponse, caller: string, view?: View): void {
    // It went away while somebody found out what it may see, and will not say so again.
    if (reply.destroyed) return;
    const shortage = this.#shares.take(caller);
    if (shortage !== undefined) {
      const isOwn = shortage === "own";
      const [status, most] = isOwn ? [429, this.#shares.each] : [503, MOST_READERS];
      reply.writeHead(status, { "Content-Type": "text/plain", "Retry-After": "10" });
      const whose = isOwn ? " of this caller" : "";
      return void reply.end(`there are already ${most} readers${whose} of the events\n`);
    }
    reply.once("close", () => this.#shares.giveBack(caller));
    reply.writeHead(200, STREAM_HEADERS);
    if (request.method === "HEAD") return void reply.end();
    this.#isKept = true;
    // Whoever reads already must not get these twice.
    this.#send();
    this.#readers.set(reply, view);
    reply.once("close", () => this.#readers.delete(reply));
    reply.write(this.#beginning(request.headers["last-event-id"], view));
    this.#keepAlive ??= this.#stayAlive();
  }

  /** Ends every stream. */
  close(): void {
    this.#send();
    this.#keepAlive?.cancel();
    for (const reader of this.#readers.keys()) reader.end();
    this.#readers.clear();
  }

  /** What a reader gets before the events to come. */
  #beginning(lastId: string | string[] | undefined, view: View | undefined): string {
    if (lastId === undefined) return this.#snapshot(view);
    const oldest = this.#oldest;
    const next = this.#numberAfter(String(lastId));
    // The id is from an earlier run, or not one of ours.
    if (next === undefined) return `${event("gap", {})}${this.#snapshot(view)}`;
    if (next >= oldest) return `: resumed\n\n${this.#textFrom(next, view)}`;
    // The snapshot comes last: it also tells what was done by the events that are lost.
    const gap = event("gap", { lost: oldest - next });
    return `${gap}${this.#textFrom(oldest, view)}${this.#snapshot(view)}`;
  }

  #snapshot(view: View | undefined): string {
    return event("snapshot", this.#options.snapshot(view), this.#idOf(this.#count - 1));
  }

  #idOf(number: number): string {
    return `${this.#options.run}-${number + 1}`;
  }

  /** The number of the event that comes after the one with this id. */
  #numberAfter(id: string): number | undefined {
    const { run } = this.#options;
    const [, count] = id.startsWith(`${run}-`)
      ? (/^(\d{1,15})$/.exec(id.slice(run.length + 1)) ?? [])
      : [];
    const next = Number(count);
    return next <= this.#count ? next : undefined;
  }

  #textFrom(start: number, view: View | undefined): string {
    let text = "";
    for (let number = start; number < this.#count; number += 1) {
      const kept = this.#ring[number % KEPT];
      const data =
        view === undefined ? kept?.data : kept && view.event(kept.name, kept.data, kept.only);
      if (kept === undefined || data === undefined) continue;
      text += event(kept.name, { at: kept.at, ...data }, this.#idOf(number));
    }
    return text;
  }

  readonly #send = (): void => {
    this.#flush?.cancel();
    this.#flush = undefined;
    const oldest = this.#oldest;
    if (this.#readers.size > 0 && this.#sent < this.#count) {
      // Within one flush there may be more events than are kept.
      const lost = oldest - this.#sent;
      const gap = lost > 0 ? event("gap", { lost }) : "";
      const from = Math.max(this.#sent, oldest);
      // Most see everything, and the text is the same for all of them.
      let whole: string | undefined;
      for (const [reader, view] of this.#readers) {
        if (view === undefined) whole ??= this.#textFrom(from, view);
        write(reader, gap + (view === undefined ? whole : this.#textFrom(from, view)));
      }
    }
    this.#sent = this.#count;
  };

  #stayAlive(): Timer {
    return this.#options.clock.later(KEEP_ALIVE_MS, () => {
      for (const reader of this.#readers.keys()) write(reader, ": keep-alive\n\n");
      this.#keepAlive = this.#readers.size > 0 ? this.#stayAlive() : undefined;
    });
  }
}

function write(reader: ServerResponse, text: string): void {
  if (text !== "") reader.write(text);
  if (reader.writableLength > MOST_UNREAD) reader.destroy();
}

function event(name: string, data: object, id?: string): string {
  const idLine = id === undefined ? "" : `id: ${id}\n`;
  return `${idLine}event: ${name}\ndata: ${jsonOfAnyDepth(data)}\n\n`;
}
