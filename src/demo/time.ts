// Instants and wall clocks: what the clock on the wall of a zone shows, and when it shows that.

import type { Attempt } from "./attempt.ts";
import { problem, success } from "./attempt.ts";

/** A reading of a wall clock as if it were UTC: milliseconds, so that readings can be subtracted. */
type Wall = number;

export interface Moment {
  zone: string;
  /** ISO 8601 with the offset that holds at that moment. */
  iso: string;
  weekday: string;
  /** From UTC, as in `+05:30`. */
  offset: string;
  daylightSaving: boolean;
}

export interface Instant {
  /** Milliseconds since the epoch. */
  epoch: number;
  /** What was decided where a wall clock shows a time twice or never. */
  note?: string;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** Before that, zones kept the sun's time and calendars differed. */
const FIRST_YEAR = 1900;

const TIME =
  /^(?:(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)(?:[T ]|$))?(?:(?<hour>\d{1,2}):(?<minute>\d\d)(?::(?<second>\d\d)(?:\.\d{1,9})?)?)?\s*(?<offset>Z|[+-]\d\d:?\d\d)?$/iu;

export function momentIn(epoch: number, zone: string): Moment {
  const wall = wallIn(epoch, zone);
  const offset = wall - wholeSecond(epoch);
  const year = new Date(wall).getUTCFullYear();
  const halves = [Date.UTC(year, 0, 1), Date.UTC(year, 6, 1)].map((at) => offsetAt(at, zone));
  return {
    zone,
    iso: `${new Date(wall).toISOString().slice(0, 19)}${formatOffset(offset)}`,
    weekday: new Date(wall).toLocaleDateString("en-US", { weekday: "long", timeZone: "UTC" }),
    offset: formatOffset(offset),
    daylightSaving: offset > Math.min(...halves),
  };
}

function wallIn(epoch: number, zone: string): Wall {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  const parts = new Map(
    format.formatToParts(epoch).map(({ type, value }) => [type, Number(value)]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  return Date.UTC(
    part("year"),
    part("month") - 1,
    part("day"),
    part("hour"),
    part("minute"),
    part("second"),
  );
}

export function offsetAt(epoch: number, zone: string): number {
  return wallIn(epoch, zone) - wholeSecond(epoch);
}

function wholeSecond(epoch: number): number {
  return Math.floor(epoch / 1000) * 1000;
}

export function formatOffset(ms: number): string {
  const clock = new Date(Math.abs(ms)).toISOString().slice(11, 19);
  // Some zones kept odd seconds until the 1930s.
  return (ms < 0 ? "-" : "+") + clock.replace(/:00$/u, "");
}

/**
 * When the clock of a zone shows `wall`. A time that a change of clocks skips is read with the offset
 * before the change, one that it repeats is read as the first: what calendars do.
 */
function whenShown(wall: Wall, zone: string): Instant {
  // A zone changes its offset at most once in two days, so these are all that can apply.
  const before = wall - offsetAt(wall - DAY, zone);
  const after = wall - offsetAt(wall + DAY, zone);
  if (before === after) return { epoch: before };
  const shown = [before, after].filter((epoch) => wallIn(epoch, zone) === wall);
  if (shown.length === 0) {
    return {
      epoch: before,
      note: `Clocks in ${zone} skip that time; it was moved on by the skipped interval.`,
    };
  }
  const epoch = Math.min(...shown);
  return shown.length === 1
    ? { epoch }
    : { epoch, note: `Clocks in ${zone} show that time twice; the first one was taken.` };
}

/**
 * Reads `2026-03-29 14:30`, `2026-03-29T14:30:00Z`, `2026-03-29` or `14:30`. What is missing is taken
 * from the present in `zone`; an offset in the text counts more than `zone`.
 */
export function parseTime(text: string, zone: string, now: number): Attempt<Instant> {
  const trimmed = text.trim();
  if (trimmed.toLowerCase() === "now") return success({ epoch: now });
  const groups = TIME.exec(trimmed)?.groups;
  if (!groups || (groups.year === undefined && groups.hour === undefined)) {
    return problem(`Cannot read the time "${trimmed}". Write it like 2026-03-29T14:30 or 14:30.`);
  }
  const wall = readWall(groups, wallIn(now, zone));
  if (wall === undefined) return problem(`There is no such time as "${trimmed}".`);
  if (new Date(wall).getUTCFullYear() < FIRST_YEAR) {
    return problem(`Times before ${FIRST_YEAR} are not supported.`);
  }
  return success(
    groups.offset === undefined
      ? whenShown(wall, zone)
      : { epoch: wall - readOffset(groups.offset) },
  );
}

/** Undefined for a date or a time of day that does not exist, such as 30 February. */
function readWall(groups: Record<string, string | undefined>, today: Wall): Wall | undefined {
  const { year, month, day, hour = "0", minute = "0", second = "0" } = groups;
  const present = new Date(today);
  const monthIndex = month === undefined ? present.getUTCMonth() : Number(month) - 1;
  const wall = new Date(0);
  wall.setUTCFullYear(
    year === undefined ? present.getUTCFullYear() : Number(year),
    monthIndex,
    day === undefined ? present.getUTCDate() : Number(day),
  );
  if (wall.getUTCMonth() !== monthIndex) return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  return wall.setUTCHours(Number(hour), Number(minute), Number(second));
}

function readOffset(text: string): number {
  if (text.toUpperCase() === "Z") return 0;
  const sign = text.startsWith("-") ? -1 : 1;
  const digits = text.replaceAll(/\D/gu, "");
  return sign * (Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2))) * MINUTE;
}
