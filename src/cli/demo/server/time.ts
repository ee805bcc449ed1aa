// Time zones and the times in them, as the runtime's `Intl` knows them.

import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import * as z from "zod";
import { closest } from "../../../util/closest.ts";

export const LocalTime = z.object({
  zone: z.string(),
  iso: z.string().describe("ISO 8601 with the offset that applies at that time."),
  weekday: z.string(),
  offset: z.string().describe("From UTC, as in +05:30."),
});

export type LocalTime = z.infer<typeof LocalTime>;

/** The runtime accepts the new names of these cities, but lists only the old ones. */
const NEW_NAMES = [
  "Asia/Ho_Chi_Minh",
  "Asia/Kathmandu",
  "Asia/Kolkata",
  "Asia/Yangon",
  "Europe/Kyiv",
];

const ZONES = ["UTC", ...Intl.supportedValuesOf("timeZone"), ...NEW_NAMES];

const TIME =
  /^(?:(\d{4}-\d\d-\d\d)[T ]?)?(?:(\d{1,2}:\d\d)(:\d\d)?(?:\.\d+)?)?\s*(Z|[+-]\d\d:?\d\d)?$/i;

/** Takes an IANA name in any letter case, `UTC` or a city. Throws for an unknown zone. */
export function findZone(text: string): string {
  const wanted = text.trim().replace(/\s+/g, "_").toLowerCase();
  const zone = ZONES.find((each) => each.toLowerCase() === wanted || cityOf(each) === wanted);
  if (zone !== undefined) return zone;
  const cities = new Map(ZONES.map((each) => [cityOf(each), each]));
  const near = cities.get(closest(wanted, cities.keys()) ?? "") ?? closest(wanted, ZONES);
  const hint =
    near === undefined ? 'Zones are named like "Europe/Berlin".' : `Did you mean "${near}"?`;
  throw invalid(`Unknown time zone "${text.trim()}". ${hint}`);
}

/** The zones whose names contain the text. */
export function zonesWith(text: string): string[] {
  const wanted = text.trim().replace(/\s+/g, "_").toLowerCase();
  return ZONES.filter((zone) => zone.toLowerCase().includes(wanted));
}

function cityOf(zone: string): string {
  return zone.slice(zone.lastIndexOf("/") + 1).toLowerCase();
}

export function timeIn(zone: string, epochMs: number): LocalTime {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    hourCycle: "h23",
    weekday: "long",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "longOffset",
  });
  const parts = new Map(format.formatToParts(epochMs).map(({ type, value }) => [type, value]));
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? "";
  const offset = part("timeZoneName").replace("GMT", "") || "+00:00";
  const date = [part("year").padStart(4, "0"), part("month"), part("day")].join("-");
  const clock = [part("hour"), part("minute"), part("second")].join(":");
  return { zone, iso: `${date}T${clock}${offset}`, weekday: part("weekday"), offset };
}

/**
 * Reads `2026-03-29 14:30`, `2026-03-29T14:30:00Z`, `2026-03-29`, `14:30` (today in the zone) or `now`, and
 * returns milliseconds since the epoch. An offset in the text wins over `zone`.
 */
export function readTime(text: string, zone: string, now: number): number {
  const trimmed = text.trim();
  if (trimmed.toLowerCase() === "now") return now;
  const [match, day, minutes, seconds = ":00", offset] = TIME.exec(trimmed) ?? [];
  if (match === undefined || (day === undefined && minutes === undefined)) {
    throw invalid(`Cannot read the time "${trimmed}". Write it like 2026-03-29T14:30 or 14:30.`);
  }
  const date = day ?? timeIn(zone, now).iso.slice(0, 10);
  const iso = `${date}T${(minutes ?? "00:00").padStart(5, "0")}${seconds}`;
  // Parsed as if it were UTC. The comparison finds days such as 30 February, which the parser moves to March.
  const asUtc = Date.parse(`${iso}Z`);
  if (Number.isNaN(asUtc) || new Date(asUtc).toISOString().slice(0, 19) !== iso) {
    throw invalid(`There is no such time as "${trimmed}".`);
  }
  if (offset !== undefined) {
    return Date.parse(`${iso}${offset.toUpperCase().replace(/^(...)(\d\d)$/, "$1:$2")}`);
  }
  // The offset depends on the time, and the time on the offset, so the result is corrected once.
  const guess = asUtc - offsetMs(zone, asUtc);
  return asUtc - offsetMs(zone, guess);
}

function offsetMs(zone: string, epochMs: number): number {
  return Date.parse(`${timeIn(zone, epochMs).iso.slice(0, 19)}Z`) - epochMs;
}

/** Tools report it as their result, prompts as an error of the protocol. */
function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
