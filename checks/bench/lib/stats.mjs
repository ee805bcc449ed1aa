// The few statistics the bench needs. All of them expect at least one number.

export function median(numbers) {
  const sorted = ascending(numbers);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The smallest of the numbers that at least `share` (0..1) of them do not exceed. */
export function percentile(numbers, share) {
  const sorted = ascending(numbers);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}

/** From samples with the same keys, one object with the median of each key. */
export function medians(samples) {
  const keys = Object.keys(samples[0]);
  return Object.fromEntries(keys.map((key) => [key, median(samples.map((s) => s[key]))]));
}

function ascending(numbers) {
  return Float64Array.from(numbers).sort();
}
