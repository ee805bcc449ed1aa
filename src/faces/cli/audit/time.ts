// Times as a person writes them: points in local time, and spans such as `1h`.

const UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** A point in time, or so long before now. */
export type Since = { kind: "ago"; ms: number } | { kind: "at"; ms: number };

/** `2026-11-15 11:24:49`, where the reader is. */
export function localTime(ms: number): string {
  const date = new Date(ms);
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  return `${day} ${time}`;
}

/** `90s`, `15m`, `1h`, `2d`, `1w`, or a date that says its year; undefined for anything else. */
export function readSince(text: string): Since | undefined {
  const [, count, unit = ""] = /^(\d{1,6})\s*([smhdw])$/.exec(text) ?? [];
  const ms = UNITS[unit];
  if (count !== undefined && ms !== undefined) return { kind: "ago", ms: Number(count) * ms };
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(localDate(text)) : Number.NaN;
  return Number.isNaN(at) ? undefined : { kind: "at", ms: at };
}

/** A date alone is read as UTC by the language, and as local time by people. */
function localDate(text: string): string {
  return text.length === 10 ? `${text}T00:00:00` : text;
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}
