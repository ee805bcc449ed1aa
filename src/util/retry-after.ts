// The `retry-after` header of HTTP.

/** Milliseconds from a number of seconds or a date; undefined for anything else. Never negative. */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const isSeconds = /^\s*\d+(\.\d+)?\s*$/.test(value);
  const ms = isSeconds ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
