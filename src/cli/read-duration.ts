// A duration as a person types it: `90s`, `15m`, `1h`, `2d`, `1w`.

const UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Milliseconds; undefined for anything else. */
export function readDuration(text: string): number | undefined {
  const [, number, unit = ""] = /^(\d{1,6})\s*([smhdw])$/.exec(text) ?? [];
  const ms = UNITS[unit];
  return number === undefined || ms === undefined ? undefined : Number(number) * ms;
}
