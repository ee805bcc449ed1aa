// An MCP server that answers from a recording: the same request gets the same answer, under the id that it has now, with
// the notifications and the server's own requests that came before it.

import { MARK } from "../../core/board/without-credentials.ts";
import { isJsonObject, type JsonObject, objectIn } from "../../core/types/json.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import { nearness } from "../../util/closest.ts";
import { packageVersion } from "../../util/version.ts";
import { oneLine } from "../../util/text.ts";
import { escapedJson } from "../../util/visible.ts";
import { isDeeperThan } from "../../util/json-depth.ts";
import { DEEPEST, type Recording, type RecordedMessage } from "./recording-file.ts";
import { META } from "../../serve/endpoint/protocol.ts";

type Id = string | number;

/** A request of the board in the recording, and what came back. */
interface Exchange {
  line: number;
  method: string;
  params: JsonObject;
  /** The parameters without `_meta`, which differs with each request. */
  key: string;
  /** What the server sent because of it, in order. */
  sent: JsonObject[];
  answer: { kind: "whole"; message: JsonObject } | { kind: "cut" | "none" };
  /** The board gave it up. */
  isCancelled: boolean;
  progressToken: unknown;
}

const LEGACY_VERSION = "2025-11-25";
const CODES = { parse: -32700, invalid: -32600, unknownMethod: -32601, unknown: -32602 } as const;
/** What a server does for any client, and what a board may ask in another way than it did in the recording. */
const HANDSHAKES: ReadonlySet<string> = new Set(["initialize", "server/discover"]);
const ALWAYS_DONE: ReadonlySet<string> = new Set(["ping", "logging/setLevel"]);
/** Stays open as long as the connection. */
const LISTEN = "subscriptions/listen";
/** How many recorded requests are compared to find the nearest. */
const MOST_COMPARED = 1000;

export interface RecordedServerOptions {
  recording: Recording;
  /** What errors call it. */
  name: string;
  send: (message: JsonObject) => void;
}

export class RecordedServer {
  readonly #options: RecordedServerOptions;
  readonly #exchanges: readonly Exchange[];
  readonly #byKey = new Map<string, Exchange[]>();
  /** How many times each key was asked for. */
  readonly #asked = new Map<string, number>();
  readonly #redacted: readonly Exchange[];
  /** The requests to the client that wait for its answer. */
  readonly #waiting = new Map<Id, () => void>();
  /** The requests of the client that are being answered, and those of them that it has given up. */
  readonly #running = new Set<Id>();
  readonly #cancelled = new Set<Id>();
  #lastId = 0;

  constructor(options: RecordedServerOptions) {
    this.#options = options;
    this.#exchanges = exchangesIn(options.recording);
    for (const exchange of this.#exchanges) {
      const { method, key } = exchange;
      const all = this.#byKey.get(keyOf(method, key)) ?? [];
      all.push(exchange);
      this.#byKey.set(keyOf(method, key), all);
    }
    this.#redacted = this.#exchanges.filter(({ key }) => key.includes(MARK));
  }

  /** One line of the client. */
  take(line: string): void {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return this.#refuse(null, CODES.parse, "the line is not JSON");
    }
    // 2025-03-26 had batches.
    for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) this.#one(each);
  }

  #one(message: unknown): void {
    if (!isJsonObject(message)) {
      return this.#refuse(null, CODES.invalid, "a message is a JSON object");
    }
    const { id, method } = message;
    const params = objectIn(message["params"]);
    const isId = typeof id === "string" || typeof id === "number";
    if (isDeeperThan(DEEPEST, message)) {
      return this.#refuse(isId ? id : null, CODES.invalid, "the message is nested too deeply");
    }
    if (typeof method !== "string") {
      const answered = isId ? this.#waiting.get(id) : undefined;
      if (answered === undefined && !("result" in message) && !("error" in message)) {
        return this.#refuse(isId ? id : null, CODES.invalid, 'a request has a "method"');
      }
      return answered?.();
    }
    if (!isId) return this.#notified(method, params);
    void this.#answer(id, method, params);
  }

  #notified(method: string, { requestId }: JsonObject): void {
    const isId = typeof requestId === "string" || typeof requestId === "number";
    if (method !== "notifications/cancelled" || !isId) return;
    if (this.#running.has(requestId)) this.#cancelled.add(requestId);
  }

  async #answer(id: Id, method: string, params: JsonObject): Promise<void> {
    this.#cancelled.delete(id);
    const exchange = this.#find(method, params);
    if (exchange === undefined) return this.#withoutExchange(id, method, params);
    this.#running.add(id);
    await this.#replay(exchange, id, params);
    this.#running.delete(id);
    if (this.#cancelled.delete(id)) return;
    const { answer, isCancelled, line } = exchange;
    if (answer.kind === "whole") {
      const { result, error } = answer.message;
      const outcome = error === undefined ? { result: result ?? {} } : { error };
      return this.#options.send({ jsonrpc: "2.0", id, ...outcome });
    }
    if (isCancelled || method === LISTEN) return;
    const why =
      answer.kind === "cut"
        ? "the answer was too large to be recorded whole"
        : "it has no answer to this request";
    const { name } = this.#options;
    this.#refuse(id, CODES.unknown, `${name} line ${line}: ${why}`);
  }

  /** Sends what the server sent before its answer. A request of the server waits for the client. */
  async #replay({ sent, progressToken }: Exchange, id: Id, params: JsonObject): Promise<void> {
    const meta = objectIn(params["_meta"]);
    const token = meta["progressToken"];
    for (const message of sent) {
      if (this.#cancelled.has(id)) return;
      if (message["id"] !== undefined) {
        await this.#ask(message);
      } else if (message["method"] === "notifications/progress") {
        const about = objectIn(message["params"]);
        if (token === undefined || about["progressToken"] !== progressToken) continue;
        this.#options.send({ ...message, params: { ...about, progressToken: token } });
      } else {
        this.#options.send(withSubscriptionId(message, id));
      }
    }
  }

  #ask(message: JsonObject): Promise<void> {
    this.#lastId += 1;
    const id = `replay-${this.#lastId}`;
    return new Promise((resolve) => {
      this.#waiting.set(id, () => {
        this.#waiting.delete(id);
        resolve();
      });
      this.#options.send({ ...message, id });
    });
  }

  /** Equal requests get their answers in order; when there is no further one, the last one again. */
  #find(method: string, params: JsonObject): Exchange | undefined {
    if (HANDSHAKES.has(method)) {
      const all = this.#exchanges.filter((each) => each.method === method);
      return all.find(isAnswered) ?? all.at(-1);
    }
    const key = keyOf(method, paramsKey(params));
    const equal = this.#byKey.get(key) ?? this.#likeRedacted(method, params);
    if (equal.length === 0) return undefined;
    const count = this.#asked.get(key) ?? 0;
    this.#asked.set(key, count + 1);
    return equal[Math.min(count, equal.length - 1)];
  }

  /** A credential that was removed from the recording matches any text. */
  #likeRedacted(method: string, params: JsonObject): Exchange[] {
    const { _meta, ...wanted } = params;
    return this.#redacted.filter((each) => {
      const { _meta: __, ...recorded } = each.params;
      return each.method === method && isLike(recorded, wanted);
    });
  }

  #withoutExchange(id: Id, method: string, params: JsonObject): void {
    const { send } = this.#options;
    if (ALWAYS_DONE.has(method)) return send({ jsonrpc: "2.0", id, result: {} });
    const handshake = this.#handshake(method, params);
    if (handshake !== undefined) return send({ jsonrpc: "2.0", id, result: handshake });
    const code = this.#exchanges.some((each) => each.method === method)
      ? CODES.unknown
      : CODES.unknownMethod;
    this.#refuse(id, code, this.#notRecorded(method, params));
  }

  /** For a recording that began when the server was running already. */
  #handshake(method: string, params: JsonObject): JsonObject | undefined {
    if (!HANDSHAKES.has(method) || this.#exchanges.some((each) => HANDSHAKES.has(each.method))) {
      return undefined;
    }
    const isModern = this.#exchanges.some(({ params: { _meta } }) => {
      return isJsonObject(_meta) && META.protocolVersion in _meta;
    });
    if (isModern !== (method === "server/discover")) return undefined;
    const areas = new Set(this.#exchanges.map((each) => each.method.split("/")[0] ?? ""));
    const capabilities = Object.fromEntries(
      ["tools", "resources", "prompts"].flatMap((area) => (areas.has(area) ? [[area, {}]] : [])),
    );
    const info = { name: this.#options.recording.server, version: packageVersion() };
    if (isModern) {
      const supportedVersions = [versionOf(params)];
      const _meta = { "io.modelcontextprotocol/serverInfo": info };
      return { supportedVersions, capabilities, _meta };
    }
    const { protocolVersion = LEGACY_VERSION } = params;
    return { protocolVersion, capabilities, serverInfo: info };
  }

  #notRecorded(method: string, params: JsonObject): string {
    const { name } = this.#options;
    const same = this.#exchanges.filter((each) => each.method === method);
    if (same.length === 0) {
      const methods = [...new Set(this.#exchanges.map((each) => each.method))];
      const list = methods.length === 0 ? "no request" : oneLine(methods.join(", "), 300);
      return `${name} has no ${oneLine(method, 100)}; it has ${list}`;
    }
    const nearest = nearestTo(params, same);
    const shown = describe(nearest.method, nearest.params);
    const asked = describe(method, params);
    return `${name} has no ${asked}; the nearest one in it, on line ${nearest.line}, is ${shown}`;
  }

  #refuse(id: Id | null, code: number, message: string): void {
    this.#options.send({ jsonrpc: "2.0", id, error: { code, message } });
  }
}

/** The requests of the board, each with what the server sent because of it. In linear time, whatever the file says. */
function exchangesIn({ messages }: Recording): Exchange[] {
  const exchanges: Exchange[] = [];
  const open = new OpenExchanges();
  for (const recorded of messages) {
    const id = "message" in recorded ? recorded.message["id"] : recorded.id;
    const isId = typeof id === "string" || typeof id === "number";
    if (!("message" in recorded)) {
      const exchange = isId && recorded.from === "server" ? open.get(id) : undefined;
      if (exchange !== undefined) exchange.answer = { kind: "cut" };
      if (isId) open.close(id);
      continue;
    }
    const { from, message } = recorded;
    const { method } = message;
    if (from === "board") {
      if (typeof method !== "string") continue;
      if (isId) {
        const exchange = exchangeOf(recorded, method);
        exchanges.push(exchange);
        open.add(id, exchange);
      } else if (method === "notifications/cancelled") {
        const exchange = open.get(cancelledIn(message) ?? "");
        if (exchange !== undefined) exchange.isCancelled = true;
      }
    } else if (typeof method === "string") {
      open.causeOf(message, exchanges.at(-1))?.sent.push(message);
    } else if (isId) {
      const exchange = open.get(id);
      if (exchange !== undefined) exchange.answer = { kind: "whole", message };
      open.close(id);
    }
  }
  return exchanges;
}

/** The exchanges that have no answer yet. */
class OpenExchanges {
  readonly #byId = new Map<Id, Exchange>();
  readonly #open = new Set<Exchange>();
  /** In their order, and by their progress tokens. A closed exchange is removed when a search meets it. */
  readonly #all: Exchange[] = [];
  readonly #byToken = new Map<unknown, Exchange[]>();

  get(id: Id): Exchange | undefined {
    return this.#byId.get(id);
  }

  add(id: Id, exchange: Exchange): void {
    this.close(id);
    this.#byId.set(id, exchange);
    this.#open.add(exchange);
    this.#all.push(exchange);
    const { progressToken } = exchange;
    if (progressToken === undefined) return;
    const same = this.#byToken.get(progressToken);
    if (same === undefined) this.#byToken.set(progressToken, [exchange]);
    else same.push(exchange);
  }

  close(id: Id): void {
    const exchange = this.#byId.get(id);
    if (exchange !== undefined) this.#open.delete(exchange);
    this.#byId.delete(id);
  }

  /**
   * Progress and subscriptions name their request. Anything else belongs to the latest one that has no answer, or else to
   * the `last` one.
   */
  causeOf({ method, params }: JsonObject, last: Exchange | undefined): Exchange | undefined {
    const about = objectIn(params);
    if (method === "notifications/progress") {
      return this.#latest(this.#byToken.get(about["progressToken"]) ?? []);
    }
    const subscription = isJsonObject(about["_meta"])
      ? about["_meta"][META.subscriptionId]
      : undefined;
    const isNamed = typeof subscription === "string" || typeof subscription === "number";
    return isNamed ? this.get(subscription) : (this.#latest(this.#all) ?? last);
  }

  #latest(exchanges: Exchange[]): Exchange | undefined {
    for (let last = exchanges.at(-1); last !== undefined; last = exchanges.at(-1)) {
      if (this.#open.has(last)) return last;
      exchanges.pop();
    }
    return undefined;
  }
}

function exchangeOf({ line, message }: RecordedMessage, method: string): Exchange {
  const params = objectIn(message["params"]);
  const meta = objectIn(params["_meta"]);
  return {
    line,
    method,
    params,
    key: paramsKey(params),
    sent: [],
    answer: { kind: "none" },
    isCancelled: false,
    progressToken: meta["progressToken"],
  };
}

function cancelledIn({ params }: JsonObject): Id | undefined {
  const id = isJsonObject(params) ? params["requestId"] : undefined;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

function withSubscriptionId(message: JsonObject, id: Id): JsonObject {
  const params = isJsonObject(message["params"]) ? message["params"] : undefined;
  const meta = isJsonObject(params?.["_meta"]) ? params["_meta"] : undefined;
  if (meta === undefined || !(META.subscriptionId in meta)) return message;
  return { ...message, params: { ...params, _meta: { ...meta, [META.subscriptionId]: id } } };
}

function isAnswered({ answer }: Exchange): boolean {
  return answer.kind === "whole" && answer.message["error"] === undefined;
}

function keyOf(method: string, params: string): string {
  return `${method} ${params}`;
}

function paramsKey({ _meta, ...params }: JsonObject): string {
  return canonicalJson(params);
}

/** Whether both are the same but for what was redacted. The depth has been bounded. */
function isLike(recorded: unknown, wanted: unknown): boolean {
  if (typeof recorded === "string" && recorded.includes(MARK)) {
    return typeof wanted === "string" && fits(recorded.split(MARK), wanted);
  }
  if (Array.isArray(recorded)) {
    if (!Array.isArray(wanted) || wanted.length !== recorded.length) return false;
    return recorded.every((each, at) => isLike(each, (wanted as unknown[])[at]));
  }
  if (!isJsonObject(recorded)) return recorded === wanted;
  if (!isJsonObject(wanted)) return false;
  const keys = Object.keys(recorded);
  return (
    keys.length === Object.keys(wanted).length &&
    keys.every((key) => Object.hasOwn(wanted, key) && isLike(recorded[key], wanted[key]))
  );
}

/** Whether the text consists of these parts, with anything between them. */
function fits(parts: readonly string[], text: string): boolean {
  const [first = "", ...rest] = parts;
  const last = rest.pop() ?? "";
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

function versionOf({ _meta }: JsonObject): unknown {
  return (isJsonObject(_meta) && _meta[META.protocolVersion]) || "2026-07-28";
}

/** One of the same method; of the same tool, prompt or resource if there is one. */
function nearestTo(params: JsonObject, exchanges: readonly Exchange[]): Exchange {
  const compared = exchanges.slice(0, MOST_COMPARED);
  const asked = nameOrUri(params);
  const text = paramsKey(params);
  const distance = (exchange: Exchange): number => {
    const byName = nearness(asked, nameOrUri(exchange.params));
    return (Number.isFinite(byName) ? byName : 1e6) * 1e3 + difference(text, exchange.key);
  };
  return compared.reduce((best, each) => (distance(each) < distance(best) ? each : best));
}

/** What the texts do not have in common at their ends. */
function difference(one: string, other: string): number {
  const most = Math.min(one.length, other.length, 500);
  let start = 0;
  while (start < most && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < most - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  return Math.min(999, Math.max(one.length, other.length) - start - end);
}

function nameOrUri({ name, uri }: JsonObject): string {
  if (typeof name === "string") return name;
  return typeof uri === "string" ? uri : "";
}

/** `tools/call echo {"text":"hi"}` */
function describe(method: string, { _meta, ...params }: JsonObject): string {
  const { name, arguments: args, ...others } = params;
  const rest = typeof name === "string" ? (args ?? others) : params;
  const words = [method, ...(typeof name === "string" ? [oneLine(name, 100)] : [])];
  return `${words.join(" ")} ${oneLine(escapedJson(rest), 200)}`;
}
