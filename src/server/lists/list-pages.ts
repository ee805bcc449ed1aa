// Reads a whole list from a server, page by page and within bounds. Malformed or hostile items are left out
// with a diagnostic; the rest stays.

import type { Diagnostic } from "../../model/diagnostic.ts";
import { PlugboardError } from "../../model/errors.ts";
import { isJsonObject } from "../../model/json.ts";
import { byteSize, oneLine, plural } from "../../util/text.ts";

export const MAX_PAGES = 64;
const MAX_LIST_BYTES = 16 * 1024 * 1024;
/** A list full of faults must not become just as many diagnostics. */
const MAX_DIAGNOSTICS = 50;

/** Requests one page; rejects with a PlugboardError. */
export type PageRequest = (cursor: string | undefined) => Promise<unknown>;

/** Why an item is left out, as the end of a sentence about it. */
export interface ItemFault {
  fault: string;
}

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
  read(item: unknown): Item | ItemFault;
  /** The item as we may show it; `report` gets what was changed, as a sentence about the item. */
  clean(item: Item, report: (message: string) => void): Item;
}

export interface ListedItems<Item> {
  items: Item[];
  diagnostics: Diagnostic[];
}

export async function listPages<Item>(
  kind: ListKind<Item>,
  server: string,
  requestPage: PageRequest,
): Promise<ListedItems<Item>> {
  const { noun, maxItems, maxItemBytes } = kind;
  const notes = new Diagnostics(server);
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
    const { raw, next } = readPage(kind, await requestPage(cursor));
    for (const each of raw) {
      const size = measure(each, maxItemBytes);
      bytes += size;
      if (items.size >= maxItems || bytes > MAX_LIST_BYTES) {
        const cap = bytes > MAX_LIST_BYTES ? byteSize(MAX_LIST_BYTES) : plural(maxItems, noun);
        return finish(`the ${noun} list is cut at ${cap}`);
      }
      const item = size > maxItemBytes ? tooBig(maxItemBytes) : kind.read(each);
      if (isFault(item)) {
        notes.add(`${noun} left out: ${item.fault}`, subjectOf(each, kind.id));
        continue;
      }
      const id = item[kind.id];
      const subject = String(id);
      if (items.has(id)) notes.add(`the ${kind.id} is listed twice; the last one counts`, subject);
      items.set(
        id,
        kind.clean(item, (message) => notes.add(message, subject)),
      );
    }
    cursor = next;
    if (cursor === undefined) return finish();
    if (seenCursors.has(cursor)) return finish(`the ${noun} list repeats a page; it is cut there`);
    if (page === MAX_PAGES) return finish(`the ${noun} list is cut at ${MAX_PAGES} pages`);
    seenCursors.add(cursor);
  }
}

class Diagnostics {
  readonly #server: string;
  readonly #diagnostics: Diagnostic[] = [];
  #leftOut = 0;

  constructor(server: string) {
    this.#server = server;
  }

  add(message: string, subject?: string): void {
    if (this.#diagnostics.length >= MAX_DIAGNOSTICS) {
      this.#leftOut += 1;
      return;
    }
    const server = this.#server;
    this.#diagnostics.push(
      subject === undefined
        ? { server, message }
        : { server, message, subject: oneLine(subject, 80) },
    );
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

function isFault(item: unknown): item is ItemFault {
  return typeof item === "object" && item !== null && "fault" in item;
}

function tooBig(maxItemBytes: number): ItemFault {
  return { fault: `its definition has more than ${byteSize(maxItemBytes)}` };
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
