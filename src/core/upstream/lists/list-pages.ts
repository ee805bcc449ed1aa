// Reads a whole list from a server, page by page and within bounds. Malformed or hostile items are left out
// with a diagnostic; the rest stays.

import type { Diagnostic, DiagnosticKind } from "../../types/diagnostic.ts";
import { PlugboardError } from "../../types/errors.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { Redact } from "../../types/without-secrets.ts";
import { isTooDeep } from "../../../util/json-depth.ts";
import { byteSize, oneLine, plainText, plural } from "../../../util/text.ts";
import type { Wire } from "../transport/carrier.ts";
import { TextCleaner } from "./text-cleaner.ts";

export const MAX_PAGES = 64;
const MAX_LIST_BYTES = 16 * 1024 * 1024;
/** A list full of faults must not become just as many diagnostics. */
const MAX_DIAGNOSTICS = 50;

/** One kind of list: where it is in an answer, and how to read and clean an item. */
export interface ListKind<Item> {
  method: string;
  /** The member of the answer that holds the items. */
  key: string;
  noun: string;
  maxItems: number;
  maxItemBytes: number;
  /** The member that is unique among the items. */
  id: string & keyof Item;
  /** Returns a text for an item that is left out: why, as the end of a sentence about it. */
  read(item: JsonObject): Item | string;
  /** Returns the item without what nobody would see in it. */
  clean(item: Item, cleaner: TextCleaner): Item;
  /** Returns the item without secrets, as we may keep and show it; a text for one that is left out, like `read`. */
  withoutSecrets(item: Item, redact: Redact): Item | string;
}

export interface ListOptions {
  server: string;
  /** Milliseconds for each page. */
  timeout: number;
  wire: Pick<Wire, "request">;
  redact: Redact;
}

export interface ListedItems<Item> {
  items: Item[];
  diagnostics: Diagnostic[];
}

/** Rejects with a PlugboardError if a page cannot be had. */
export async function listPages<Item>(
  kind: ListKind<Item>,
  { server, timeout, wire, redact }: ListOptions,
): Promise<ListedItems<Item>> {
  const { noun, maxItems, maxItemBytes } = kind;
  const notes = new Diagnostics(server, redact);
  // If an id is repeated, the last item wins, at the place of the first.
  const items = new Map<unknown, Item>();
  const finish = (cut?: string): ListedItems<Item> => ({
    items: [...items.values()],
    diagnostics: notes.finish(cut),
  });
  const seenCursors = new Set<string>();
  let cursor: string | undefined;
  let bytes = 0;
  for (let page = 1; ; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const { raw, next } = readPage(kind, await wire.request(kind.method, params, { timeout }));
    for (const each of raw) {
      const size = measure(each, maxItemBytes);
      bytes += size;
      if (items.size >= maxItems || bytes > MAX_LIST_BYTES) {
        const cap = bytes > MAX_LIST_BYTES ? byteSize(MAX_LIST_BYTES) : plural(maxItems, noun);
        return finish(`the ${noun} list is cut at ${cap}`);
      }
      const item = size > maxItemBytes ? tooBig(maxItemBytes) : readItem(kind, each);
      if (typeof item === "string") {
        notes.add(`${noun} left out: ${item}`, subjectOf(each, kind.id), "left-out");
        continue;
      }
      const id = item[kind.id];
      const subject = String(id);
      const cleaner = new TextCleaner(redact);
      const clean = kind.withoutSecrets(kind.clean(item, cleaner), redact);
      if (typeof clean === "string") {
        notes.add(`${noun} left out: ${clean}`, subject, "left-out");
        continue;
      }
      if (items.has(id)) notes.add(`the ${kind.id} is listed twice; the last one counts`, subject);
      items.set(id, clean);
      for (const change of cleaner.changes()) notes.add(change, subject);
    }
    cursor = next;
    if (cursor === undefined) return finish();
    if (seenCursors.has(cursor)) return finish(`the ${noun} list repeats a page; it is cut there`);
    if (page === MAX_PAGES) return finish(`the ${noun} list is cut at ${MAX_PAGES} pages`);
    seenCursors.add(cursor);
  }
}

/** Copies the members that are texts, and those that are objects. Returns what is wrong with an object, if anything. */
export function copyMembers<Item>(
  from: JsonObject,
  to: Item,
  texts: readonly (string & keyof Item)[],
  objects: readonly (string & keyof Item)[],
): string | undefined {
  const copy = to as JsonObject;
  for (const key of texts) if (typeof from[key] === "string") copy[key] = from[key];
  for (const key of objects) {
    if (!isJsonObject(from[key])) continue;
    if (isTooDeep(from[key])) return `"${key}" has too many levels`;
    copy[key] = from[key];
  }
  return undefined;
}

class Diagnostics {
  readonly #server: string;
  readonly #redact: Redact;
  readonly #diagnostics: Diagnostic[] = [];
  #leftOut = 0;

  constructor(server: string, redact: Redact) {
    this.#server = server;
    this.#redact = redact;
  }

  add(message: string, subject?: string, kind?: DiagnosticKind): void {
    if (this.#diagnostics.length >= MAX_DIAGNOSTICS) {
      this.#leftOut += 1;
      return;
    }
    this.#diagnostics.push({
      server: this.#server,
      message,
      // A part of a secret would not be recognised, nor one with a space for the end of a line.
      ...(subject !== undefined && { subject: oneLine(this.#redact(plainText(subject)), 80) }),
      ...(kind && { kind }),
    });
  }

  /** `cut` says where the list was cut, if it was. */
  finish(cut: string | undefined): Diagnostic[] {
    const server = this.#server;
    return [
      ...this.#diagnostics,
      ...(this.#leftOut > 0
        ? [{ server, message: `${plural(this.#leftOut, "more fault")} like these` }]
        : []),
      ...(cut === undefined ? [] : [{ server, message: cut }]),
    ];
  }
}

function readPage<Item>(
  { method, key, noun }: ListKind<Item>,
  result: unknown,
): { raw: unknown[]; next: string | undefined } {
  const raw = isJsonObject(result) ? result[key] : undefined;
  if (!isJsonObject(result) || !Array.isArray(raw)) {
    const message = `the server's answer to ${method} does not hold a list of ${noun}s`;
    throw new PlugboardError("PROTOCOL", message);
  }
  const { nextCursor } = result;
  return {
    raw,
    next: typeof nextCursor === "string" && nextCursor !== "" ? nextCursor : undefined,
  };
}

function readItem<Item>(kind: ListKind<Item>, item: unknown): Item | string {
  return isJsonObject(item) ? kind.read(item) : "it is not an object";
}

function tooBig(maxItemBytes: number): string {
  return `its definition has more than ${byteSize(maxItemBytes)}`;
}

function subjectOf(item: unknown, id: string): string | undefined {
  const name = isJsonObject(item) ? item[id] : undefined;
  return typeof name === "string" && name !== "" ? name : undefined;
}

/** Roughly how many bytes a value takes as JSON; `limit + 1` for anything above `limit`. */
export function measure(value: unknown, limit: number): number {
  let size = 0;
  const queue: unknown[] = [value];
  for (; queue.length > 0 && size <= limit;) {
    const next = queue.pop();
    size += 8;
    if (typeof next === "string") size += next.length;
    if (typeof next !== "object" || next === null) continue;
    // Do not copy a list of millions only to find out that it is too long.
    if (Array.isArray(next) && next.length > limit) return limit + 1;
    for (const key in next) {
      if (size > limit) break;
      size += key.length;
      queue.push((next as Record<string, unknown>)[key]);
    }
  }
  return Math.min(size, limit + 1);
}
