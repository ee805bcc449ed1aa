// How large a value is, roughly, without writing it as JSON.

/** So many values are looked at, whatever they are. */
const MOST_VALUES = 20_000;

/** In characters. Infinity as soon as it is more than `most`, or takes too long to find out. */
export function valueSize(value: unknown, most: number): number {
  let size = 0;
  const queue: unknown[] = [value];
  for (let looked = 0; queue.length > 0; looked += 1) {
    if (looked > MOST_VALUES || size > most) return Infinity;
    const next = queue.pop();
    if (typeof next === "string") size += next.length;
    else if (typeof next === "object" && next !== null) {
      for (const key in next) {
        size += key.length;
        queue.push((next as Record<string, unknown>)[key]);
      }
    } else size += 8;
  }
  return size > most ? Infinity : size;
}
