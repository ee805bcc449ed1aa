// Guesses what somebody meant by a word that matches nothing: a mistyped key, a tool's short name.

/** Only this many characters of a word are compared, so that the cost per candidate is bounded. */
const LONGEST = 128;

/** Shorter fragments are part of too many words to mean anything. */
const SHORTEST_PART = 3;

/**
 * The candidate nearest to `word`, ignoring letter case, or undefined if none is near. A similar spelling wins over
 * a shared beginning, which wins over a shared end, which wins over a part in the middle. Among equals the first
 * one wins.
 */
export function closest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = fold(word);
  let best: string | undefined;
  let bestScore = Infinity;
  for (const candidate of candidates) {
    const score = rate(wanted, fold(candidate));
    if (score < bestScore) {
      best = candidate;
      bestScore = score;
    }
  }
  return best;
}

/** How near two words are: lower is nearer, Infinity is not near at all. */
export function nearness(word: string, candidate: string): number {
  return rate(fold(word), fold(candidate));
}

function fold(word: string): string {
  return word.slice(0, LONGEST).toLowerCase();
}

/** Lower is nearer; Infinity means not near at all. */
function rate(a: string, b: string): number {
  // What both names begin with does not make the rest of them alike: `echo/ad` is not near `echo/pid`.
  const from = commonNames(a, b);
  const allowed = Math.floor((Math.max(a.length, b.length) - from) / 3);
  const spelling = distance(a.slice(from), b.slice(from), allowed);
  if (spelling <= allowed) return spelling;

  const [part, whole] = a.length < b.length ? [a, b] : [b, a];
  if (part.length < SHORTEST_PART) return Infinity;
  // Always below 1, so it only ranks words that match in the same way.
  const excess = (whole.length - part.length) / LONGEST;
  if (whole.startsWith(part)) return LONGEST + excess;
  if (whole.endsWith(part)) return LONGEST + 1 + excess;
  if (whole.includes(part)) return LONGEST + 2 + excess;
  return Infinity;
}

/** The length of the words at the beginning that both have in common, with the separator after them. */
function commonNames(a: string, b: string): number {
  let length = 0;
  for (let i = 0; i < a.length && a[i] === b[i]; i++)
    if (/[^a-z0-9]/.test(a[i] ?? "")) length = i + 1;
  return length;
}

/**
 * The number of edits that turn one word into the other: insert, delete, replace, or swap two neighbours. Returns
 * Infinity as soon as it must exceed `limit`. Keeps three rows of the table.
 */
function distance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return Infinity;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, at(beforeLast, j - 2) + 1);
      }
      row.push(cost);
      least = Math.min(least, cost);
    }
    // A swap goes back two rows, so a single row above the limit does not decide.
    if (least > limit + 1) return Infinity;
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: number[], column: number): number {
  return row[column] ?? Infinity;
}
