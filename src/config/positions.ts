// Where in a text something stands, as an editor counts: lines and columns from 1.

import type { Path, Place } from "./finding.ts";

/** The places of one member of an object or one element of a list. */
export interface MemberPlaces {
  key: Place;
  value: Place;
}

/** The places of everything inside each object and list of a document. */
export type Positions = WeakMap<object, Map<string | number, MemberPlaces>>;

const START: Place = { line: 1, column: 1 };

/** The place of what `path` leads to or, where it leads to nothing, of the last thing on the way. */
export function locate(
  root: unknown,
  positions: Positions,
  path: Path,
  at: "key" | "value",
): Place {
  let node = root;
  let place = START;
  for (const [index, step] of path.entries()) {
    const member = isObject(node) ? positions.get(node)?.get(step) : undefined;
    if (member === undefined || !isObject(node)) return place;
    const isLast = index === path.length - 1;
    place = isLast && at === "value" ? member.value : member.key;
    node = (node as Record<string | number, unknown>)[step];
  }
  return place;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

export function placeAt(text: string, offset: number): Place {
  let line = 1;
  let start = 0;
  for (const newline of text.matchAll(/\r\n|\r|\n/g)) {
    const next = newline.index + newline[0].length;
    if (next > offset) break;
    line++;
    start = next;
  }
  return { line, column: offset - start + 1 };
}
