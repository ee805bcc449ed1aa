// Where the secrets in a value are from, for a person who watches a call: the texts that have some, and the references by
// which they are known. No value is ever part of it.

import type { RedactedPart } from "../types/call-timeline.ts";

/** How many parts are reported at most: nobody reads more. */
const MOST_PARTS = 100;
const MOST_TEXTS = 10_000;
const LONGEST_PATH = 200;
const DEEPEST = 50;
const UNKNOWN = "a secret that is written in another way";

/** A secret as it may be written, and the places that it is from. */
export interface SourcedSecret {
  variants: Iterable<string>;
  places: readonly string[];
}

/** `spansIn` finds the secrets in a text: pairs of where one begins and ends. */
export function partsWithSecrets(
  value: unknown,
  spansIn: (text: string) => readonly number[],
  secrets: () => readonly SourcedSecret[],
): RedactedPart[] {
  const found: RedactedPart[] = [];
  for (const { path, text } of textsIn(value)) {
    if (found.length >= MOST_PARTS) break;
    const spans = spansIn(text);
    if (spans.length === 0) continue;
    const sources = new Set<string>();
    for (let at = 0; at < spans.length; at += 2) {
      const secret = text.slice(spans[at], spans[at + 1]);
      for (const source of sourcesOf(secret, secrets())) sources.add(source);
    }
    found.push({ path, sources: [...sources] });
  }
  return found;
}

function sourcesOf(span: string, secrets: readonly SourcedSecret[]): string[] {
  const meant = secrets.filter(({ variants }) => {
    for (const variant of variants) if (span.includes(variant)) return true;
    return false;
  });
  const places = meant.flatMap((each) => each.places);
  const references = places.filter(isReferenceKey);
  // A server that uses a reference has the value too, which says less.
  const named = references.length > 0 ? references : places;
  return named.length === 0 ? [UNKNOWN] : named.map(nameOf);
}

function isReferenceKey(place: string): boolean {
  return place.startsWith("[");
}

/** The resolver names the place of a value by the parts of its reference. */
function nameOf(place: string): string {
  if (!isReferenceKey(place)) return place;
  const [provider, path, key] = JSON.parse(place) as [string, string, string?];
  return `secret://${provider}/${path}${typeof key === "string" ? `#${key}` : ""}`;
}

function* textsIn(root: unknown): Generator<{ path: string; text: string }> {
  const queue: { path: string; value: unknown; depth: number }[] = [
    { path: "", value: root, depth: 0 },
  ];
  let texts = 0;
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const { path, value, depth } = next;
    if (typeof value === "string") {
      texts += 1;
      if (texts > MOST_TEXTS) return;
      yield { path, text: value };
    } else if (typeof value === "object" && value !== null && depth < DEEPEST) {
      const isList = Array.isArray(value);
      for (const [key, child] of Object.entries(value).slice(0, MOST_TEXTS)) {
        const step = isList ? `[${key}]` : path === "" ? key : `.${key}`;
        queue.push({
          path: `${path}${step}`.slice(0, LONGEST_PATH),
          value: child,
          depth: depth + 1,
        });
      }
    }
  }
}
