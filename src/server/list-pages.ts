// Reads a whole list of a server's, page by page, within bounds, and item by item: what is malformed or
// hostile is left out with a diagnostic, the rest stays.

import type { Diagnostic } from "../model/diagnostic.ts";
import { PlugboardError } from "../model/errors.ts";
import { isJsonObject } from "../model/json.ts";
import { byteSize, oneLine, plural } from "../util/text.ts";
import { measure } from "./schema-bounds.ts";

export const MAX_PAGES = 64;
const MAX_LIST_BYTES = 16 * 1024 * 1024;
/** A list of nothing but faults must not become a list of as many diagnostics. */
const MAX_DIAGNOSTICS = 50;

/** Asks for one page; rejects with a PlugboardError. */
export type PageRequest = (cursor: string | undefined) => Promise<unknown>;

export interface Fault {
  fault: string;
}

/** One kind of list: where it is found in an answer, and what becomes of an item. */
export interface ListKind<Item> {
  method: string;
  /** The answer's member that holds the items. */
  key: string;
  noun: string;
  maxItems: number;
  maxItemBytes: number;
  /** The member that no two items have in common. */
  id: string & keyof Item;
  read(item: unknown): Item | Fault;
  /** The item as it may be shown; `report` hears what was changed, as a sentence about it. */
  clean(item: Item, report: (message: string) => void): Item;
}

export interface Listed<Item> {
  items: Item[];
  diagnostics: Diagnostic[];
}

export async function listPages<Item>(
  kind: ListKind<Item>,
  server: string,
  requestPage: PageRequest,
): Promise<Listed<Item>> {
  const { noun, maxItems, maxItemBytes } = kind;
  const notes = new Notes(server);
  // Last wins on a repeated id, at the place of the first.
  const items = new Map<unknown, Item>();
  const finish = (cut?: string): Listed<Item> => ({
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

class Notes {
  readonly #server: string;
  readonly #diagnostics: Diagnostic[] = [];
  #unsaid = 0;

  constructor(server: string) {
    this.#server = server;
  }

  add(message: string, subject?: string): void {
    if (this.#diagnostics.length >= MAX_DIAGNOSTICS) {
      this.#unsaid += 1;
      return;
    }
    const server = this.#server;
    this.#diagnostics.push(
      subject === undefined
        ? { server, message }
        : { server, message, subject: oneLine(subject, 80) },
    );
  }

  /** `cut` says where the list was cut. */
  finish(cut: string | undefined): Diagnostic[] {
    const server = this.#server;
    return [
      ...this.#diagnostics,
      ...(this.#unsaid > 0
        ? [{ server, message: `${plural(this.#unsaid, "more fault")} like these` }]
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
    const message = `the server's answer to ${method} holds no list of ${noun}s`;
    throw new PlugboardError("PROTOCOL", message);
  }
  const { nextCursor } = result;
  return {
    raw,
    next: typeof nextCursor === "string" && nextCursor !== "" ? nextCursor : undefined,
  };
}

function isFault(item: unknown): item is Fault {
  return typeof item === "object" && item !== null && "fault" in item;
}

function tooBig(maxItemBytes: number): Fault {
  return { fault: `it is described in more than ${byteSize(maxItemBytes)}` };
}

function subjectOf(item: unknown, id: string): string | undefined {
  const name = isJsonObject(item) ? item[id] : undefined;
  return typeof name === "string" ? name : undefined;
}
