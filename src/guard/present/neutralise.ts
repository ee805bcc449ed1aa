// Takes forged markers and copies of the frame's id out of text, and leaves everything else as it is, to the byte.

import { findForged, findId } from "./forged.ts";
import type { Span } from "./marker-bounds.ts";

const REMOVED = "[[marker removed]]";

export interface Neutralised {
  pieces: string[];
  /** How many markers and ids were taken out. */
  removed: number;
}

/**
 * The pieces are read as one text: a marker whose halves stand in two of them is a marker. What is taken
 * out leaves a note in the piece where it began.
 */
export function neutralise(pieces: readonly string[], id?: string): Neutralised {
  const forged = takeOut(pieces, findForged);
  if (id === undefined) return forged;
  const copies = takeOut(forged.pieces, (text) => findId(text, id));
  return { pieces: copies.pieces, removed: forged.removed + copies.removed };
}

function takeOut(pieces: readonly string[], find: (text: string) => Span[]): Neutralised {
  const [only = ""] = pieces;
  const text = pieces.length === 1 ? only : pieces.join("\n");
  const spans = find(text);
  if (spans.length === 0) return { pieces: [...pieces], removed: 0 };
  const cleaned: string[] = [];
  let from = 0;
  let next = 0;
  for (const piece of pieces) {
    const to = from + piece.length;
    const parts: string[] = [];
    let at = from;
    for (let span = spans[next]; span !== undefined && span.start < to; span = spans[next]) {
      if (span.start >= from) parts.push(text.slice(at, span.start), REMOVED);
      at = Math.max(at, Math.min(span.end, to));
      if (span.end > to) break;
      next += 1;
    }
    parts.push(text.slice(at, to));
    cleaned.push(parts.join(""));
    from = to + 1;
  }
  return { pieces: cleaned, removed: spans.length };
}
