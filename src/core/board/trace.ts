// The traces of a board: takes what goes over its servers' connections, removes the secrets, and gives it to whoever
// listens. A call only leaves a reference behind; the work is done between calls, a little at a time. What comes faster
// than that is left out and counted.

import { isJsonObject, type JsonObject, tryParseJson } from "../types/json.ts";
import type { Logger } from "../types/logger.ts";
import type { ServerState } from "../types/server-state.ts";
import type {
  EndTrace,
  TraceEntry,
  TraceListener,
  TraceOptions,
  TracedCut,
  TracedMessage,
  TraceSender,
} from "../types/trace.ts";
import { hideInJsonText, hideInMessage } from "../redaction/hide-in-message.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { Tap, Tapped } from "../upstream/tap.ts";
import type { Clock } from "../../util/clock.ts";
import { isDeeperThan } from "../../util/json-depth.ts";
import { duration, oneLine, plainText } from "../../util/text.ts";
import { tell } from "../../util/tell.ts";

const MAX_SIZE = 1024 ** 2;
/** How many characters are shown of a message that is cut, and of a line that is not a message. */
const SHOWN = 4096;
/** How many characters at the end of a message that is cut are searched for its id. */
const ENVELOPE = 300;
/** What may wait to be delivered. One message alone may be longer. */
const MOST_WAITING = 2000;
const MOST_CHARACTERS = 32 * 1024 ** 2;
/** What is delivered before other work has its turn. */
const AT_ONCE = 50;
const CHARACTERS_AT_ONCE = 256 * 1024;
/** Requests without an answer yet, of one server, and how long an id may be: a server chooses those of its requests. */
const MOST_REQUESTS = 10_000;
const LONGEST_ID = 200;
/** Messages of one batch that become entries of their own. */
const MOST_IN_BATCH = 1000;
/** Deeper than any honest message; little enough to be written as JSON anywhere. */
const DEEPEST = 200;
const SESSION_SHOWN = 8;

interface Trace extends Required<Pick<TraceOptions, "maxSize">> {
  server: string | undefined;
  listener: TraceListener;
}

/** Something that is not an entry yet. */
interface Waiting {
  tap: ServerTap;
  at: number;
  monotonic: number;
  what: Tapped | { kind: "state"; state: ServerState } | { kind: "lost"; count: number };
  /** Only if the text is too long: its end, and its length. */
  cut?: { end: string; size: number };
}

type WithoutServer<Entry> = Entry extends unknown ? Omit<Entry, "server" | "at"> : never;
type Details = WithoutServer<TraceEntry>;

export class BoardTrace {
  /** Read with every message. */
  isOn = false;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #traces = new Set<Trace>();
  #waiting = new Queue<Waiting>();
  #characters = 0;
  readonly #lost = new Map<ServerTap, number>();
  #isScheduled = false;
  #maxSize = 0;

  constructor({ clock, logger }: { clock: Clock; logger: Logger }) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Where the connections of a server report to. The redactor knows the secrets of the server. */
  tap(server: string, redactor: Redactor): ServerTap {
    return new ServerTap(server, redactor, this);
  }

  begin(listener: TraceListener, { server, maxSize = MAX_SIZE }: TraceOptions): EndTrace {
    const trace: Trace = { server, listener, maxSize };
    this.#traces.add(trace);
    this.#changed();
    return async () => {
      this.#deliver(Infinity);
      this.#traces.delete(trace);
      this.#changed();
    };
  }

  isWanted(server: string): boolean {
    for (const trace of this.#traces) if (isAbout(trace, server)) return true;
    return false;
  }

  push(tap: ServerTap, what: Waiting["what"]): void {
    const text = "text" in what ? what.text : "";
    const isCut = text.length > this.#maxSize;
    const length = isCut ? SHOWN + ENVELOPE : text.length;
    const isFull =
      this.#waiting.length >= MOST_WAITING || this.#characters + length > MOST_CHARACTERS;
    if (isFull && this.#waiting.length > 0) {
      this.#lost.set(tap, (this.#lost.get(tap) ?? 0) + 1);
      return;
    }
    const lost = this.#lost.get(tap);
    if (lost !== undefined) this.#add(tap, { kind: "lost", count: lost });
    this.#lost.delete(tap);
    if (!isCut || !("text" in what)) return this.#add(tap, what);
    // Copies: a part of a string would keep all of it in memory.
    const cut = { end: copied(text.slice(-ENVELOPE)), size: text.length };
    this.#add(tap, { ...what, text: copied(text.slice(0, SHOWN)) }, cut);
  }

  #add(tap: ServerTap, what: Waiting["what"], cut?: Waiting["cut"]): void {
    const [at, monotonic] = [this.#clock.now(), this.#clock.monotonic()];
    this.#waiting.push({ tap, at, monotonic, what, ...(cut && { cut }) });
    this.#characters += "text" in what ? what.text.length : 0;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#isScheduled = false;
    this.#deliver(AT_ONCE);
    if (this.#waiting.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => this.#turn());
  }

  #deliver(most: number): void {
    let characters = 0;
    for (let count = 0; count < most; count += 1) {
      if (characters > CHARACTERS_AT_ONCE && most < Infinity) return;
      const waiting = this.#waiting.take();
      if (waiting === undefined) break;
      const length = "text" in waiting.what ? waiting.what.text.length : 0;
      characters += length;
      this.#characters -= length;
      for (const details of this.#read(waiting)) this.#tell(waiting, details);
    }
    if (this.#waiting.length > 0) return;
    const [at, monotonic] = [this.#clock.now(), this.#clock.monotonic()];
    for (const [tap, lost] of this.#lost) {
      const what = { kind: "lost" as const, count: lost };
      this.#tell({ tap, at, monotonic, what }, what);
    }
    this.#lost.clear();
  }

  #read(waiting: Waiting): Details[] {
    try {
      return read(waiting);
    } catch (error) {
      // A message that breaks the code that reads it must not end the host, nor be shown unread.
      this.#logger.debug("a message could not be traced", { reason: oneLine(String(error), 200) });
      return [];
    }
  }

  #tell({ tap, at }: Waiting, details: Details): void {
    const { server } = tap;
    const entry: TraceEntry = { ...details, server, at };
    for (const trace of this.#traces) {
      if (!isAbout(trace, server)) continue;
      const isLong = entry.kind === "message" && entry.size > trace.maxSize;
      tell(
        () => trace.listener(isLong ? cutEntry(entry) : entry),
        (error) => this.#logger.error("a listener threw", { reason: String(error) }),
      );
    }
  }

  #changed(): void {
    this.isOn = this.#traces.size > 0;
    this.#maxSize = Math.max(0, ...Array.from(this.#traces, ({ maxSize }) => maxSize));
    if (this.isOn) return;
    this.#waiting = new Queue();
    this.#characters = 0;
    this.#lost.clear();
  }
}

/** First in, first out; a list would be moved with every item that is taken. */
class Queue<Item> {
  #items: Item[] = [];
  #taken = 0;

  get length(): number {
    return this.#items.length - this.#taken;
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  take(): Item | undefined {
    if (this.length === 0) return undefined;
    const item = this.#items[this.#taken];
    this.#taken += 1;
    if (this.#taken < AT_ONCE && this.length > 0) return item;
    this.#items = this.#items.slice(this.#taken);
    this.#taken = 0;
    return item;
  }
}

/** The tap of one server. */
export class ServerTap implements Tap {
  readonly server: string;
  readonly redactor: Redactor;
  /** The requests that have no answer yet, by who sent them and their id. */
  readonly requests = new Map<string, { method: string; monotonic: number }>();
  readonly #trace: BoardTrace;
  readonly #listener = (tapped: Tapped): void => this.#push(tapped);

  constructor(server: string, redactor: Redactor, trace: BoardTrace) {
    this.server = server;
    this.redactor = redactor;
    this.#trace = trace;
  }

  get listener(): ((tapped: Tapped) => void) | undefined {
    return this.#trace.isOn ? this.#listener : undefined;
  }

  state(state: ServerState): void {
    if (this.#trace.isOn) this.#push({ kind: "state", state });
  }

  #push(what: Waiting["what"]): void {
    if (this.#trace.isWanted(this.server)) this.#trace.push(this, what);
  }
}

function isAbout({ server }: Trace, name: string): boolean {
  return server === undefined || server === name;
}

/** What it is, without secrets. */
function read(waiting: Waiting): Details[] {
  const { what, tap } = waiting;
  const { redactor } = tap;
  switch (what.kind) {
    case "lost":
      return [what];
    case "state":
      return [stateDetails(what.state, redactor)];
    case "stderr":
      // The log has removed secrets and escapes.
      return [what];
    case "http": {
      const { method, status, ms, contentType, session } = what;
      const type = contentType?.split(";")[0];
      return [
        {
          kind: "http",
          method,
          status,
          ms: tenths(ms),
          ...(type && { contentType: redactor.text(oneLine(type, 80)) }),
          ...(session && { session: beginning(redactor.text(oneLine(session, 200))) }),
        },
      ];
    }
    default:
      return readMessages(what.text, what.kind === "sent" ? "board" : "server", waiting);
  }
}

function stateDetails(state: ServerState, redactor: Redactor): Details {
  const text = stateText(state);
  return {
    kind: "state",
    state: state.kind,
    ...(text !== undefined && { text: redactor.text(plainText(text)) }),
  };
}

function stateText(state: ServerState): string | undefined {
  switch (state.kind) {
    case "ready": {
      const { startMs, protocolVersion, pid } = state;
      const facts = [`after ${duration(startMs)}`, `protocol ${protocolVersion}`];
      return [...facts, ...(pid === undefined ? [] : [`pid ${pid}`])].join(", ");
    }
    case "failed":
    case "backoff":
      return state.error.message;
    case "needs-auth":
    case "untrusted":
      return state.remedy;
    default:
      return undefined;
  }
}

function readMessages(text: string, from: TraceSender, waiting: Waiting): Details[] {
  const { tap, cut } = waiting;
  const cutHere = (): Details =>
    readCut(text.slice(0, SHOWN), from, waiting, { end: text.slice(-ENVELOPE), size: text.length });
  if (cut !== undefined) return [readCut(text, from, waiting, cut)];
  const parsed = tryParseJson(text);
  // 2025-03-26 had batches.
  const messages: unknown[] = Array.isArray(parsed) && parsed.length > 0 ? parsed : [parsed];
  if (!messages.every(isJsonObject)) {
    const shown = tap.redactor.text(plainText(text.slice(0, SHOWN)), text.length > SHOWN);
    return [{ kind: "noise", text: hideInJsonText(shown), size: text.length }];
  }
  if (messages.length > MOST_IN_BATCH) return [cutHere()];
  const size = messages.length === 1 ? text.trimEnd().length : 0;
  return messages.map((message) => {
    if (isDeeperThan(DEEPEST, message)) return cutHere();
    const told = withoutSecrets(message, tap.redactor);
    const json = JSON.stringify(told);
    // A secret that consists of digits may be a number, which cannot have a mark in it.
    if (tap.redactor.text(json) !== json) return cutHere();
    return {
      kind: "message",
      from,
      message: told,
      size: size || json.length,
      ...matched(from, { id: message["id"], method: message["method"] }, waiting),
    };
  });
}

function readCut(
  text: string,
  from: TraceSender,
  waiting: Waiting,
  { end, size }: NonNullable<Waiting["cut"]>,
): Omit<TracedCut, "server" | "at"> {
  const { redactor } = waiting.tap;
  const method = /"method"\s*:\s*"([\w/.-]{1,100})"/.exec(text.slice(0, ENVELOPE))?.[1];
  const id = idIn(text.slice(0, ENVELOPE)) ?? idIn(end);
  return {
    kind: "cut",
    from,
    ...(id !== undefined && redactor.text(String(id)) === String(id) && { id }),
    ...(method !== undefined && { method: redactor.text(method) }),
    text: hideInJsonText(redactor.text(plainText(text), true)),
    size,
    ...matched(from, { id, method }, waiting),
  };
}

function idIn(text: string): string | number | undefined {
  const [, number, word] = /"id"\s*:\s*(?:(\d{1,15})|"([\w:.-]{1,100})")\s*[,}]/.exec(text) ?? [];
  return number === undefined ? word : Number(number);
}

/** A message that one listener gets whole and another one does not. */
function cutEntry(entry: TracedMessage): TracedCut {
  const { message, kind: _, ...rest } = entry;
  const { id, method } = message;
  return {
    ...rest,
    kind: "cut",
    ...((typeof id === "string" || typeof id === "number") && { id }),
    ...(typeof method === "string" && { method }),
    text: plainText(JSON.stringify(message).slice(0, SHOWN)),
  };
}

/** Remembers a request, and finds the request of an answer. */
function matched(
  from: TraceSender,
  { id, method }: { id: unknown; method: unknown },
  { tap, monotonic }: Waiting,
): Pick<TracedMessage, "answers" | "ms"> {
  if (typeof id !== "string" && typeof id !== "number") return {};
  if (String(id).length > LONGEST_ID) return {};
  const { requests } = tap;
  if (typeof method === "string") {
    const key = `${from} ${id}`;
    const [oldest] = requests.keys();
    if (requests.size >= MOST_REQUESTS && oldest !== undefined) requests.delete(oldest);
    requests.set(key, { method: oneLine(tap.redactor.text(method), 100), monotonic });
    return {};
  }
  const key = `${from === "board" ? "server" : "board"} ${id}`;
  const request = requests.get(key);
  requests.delete(key);
  return request ? { answers: request.method, ms: tenths(monotonic - request.monotonic) } : {};
}

function withoutSecrets(message: JsonObject, redactor: Redactor): JsonObject {
  return hideInMessage(withoutDivided(redactor.value(message), redactor));
}

/**
 * Removes secrets that go over several texts: those of one object or list, and those under the same key in the items of
 * a list, as in the blocks of a result. The depth has been bounded.
 */
function withoutDivided<Value>(value: Value, redactor: Redactor): Value {
  if (typeof value !== "object" || value === null) return value;
  const children = Object.values(value) as unknown[];
  for (const child of children) withoutDivided(child, redactor);
  joinTexts(value as JsonObject, Object.keys(value), redactor);
  if (!Array.isArray(value) || value.length < 2) return value;
  for (const key of ["text", "data", "value", "content"]) {
    const holders = (value as unknown[]).filter(isJsonObject);
    joinAcross(holders, key, redactor);
  }
  const inner = (value as unknown[]).flatMap((each) =>
    isJsonObject(each) && isJsonObject(each["resource"]) ? [each["resource"]] : [],
  );
  joinAcross(inner, "text", redactor);
  return value;
}

function joinTexts(object: JsonObject, keys: readonly string[], redactor: Redactor): void {
  const texts = keys.filter((key) => typeof object[key] === "string");
  if (texts.length < 2) return;
  const given = texts.map((key) => String(object[key]));
  const told = redactor.parts(given);
  if (told !== given) texts.forEach((key, at) => set(object, key, told[at] ?? ""));
}

function joinAcross(holders: readonly JsonObject[], key: string, redactor: Redactor): void {
  const having = holders.filter((each) => typeof each[key] === "string");
  if (having.length < 2) return;
  const given = having.map((each) => String(each[key]));
  const told = redactor.parts(given);
  if (told !== given) having.forEach((each, at) => set(each, key, told[at] ?? ""));
}

/** Assigning `__proto__` would set the prototype. */
function set(object: JsonObject, key: string, value: string): void {
  Object.defineProperty(object, key, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}

/** Never all of it, however short it is. */
function beginning(id: string): string {
  return `${id.slice(0, Math.min(SESSION_SHOWN, Math.floor(id.length / 2)))}…`;
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}

function copied(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}
