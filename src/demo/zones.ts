// Time zones by name: the IANA names this runtime knows, and what people write instead of them.

import { closest } from "../util/closest.ts";
import type { Attempt } from "./attempt.ts";
import { problem, success } from "./attempt.ts";

/** Names the runtime lists under the spelling it had when it was first entered. */
const RENAMED: Readonly<Record<string, string>> = {
  "Africa/Asmera": "Africa/Asmara",
  "America/Buenos_Aires": "America/Argentina/Buenos_Aires",
  "America/Godthab": "America/Nuuk",
  "America/Indianapolis": "America/Indiana/Indianapolis",
  "America/Louisville": "America/Kentucky/Louisville",
  "Asia/Calcutta": "Asia/Kolkata",
  "Asia/Katmandu": "Asia/Kathmandu",
  "Asia/Rangoon": "Asia/Yangon",
  "Asia/Saigon": "Asia/Ho_Chi_Minh",
  "Atlantic/Faeroe": "Atlantic/Faroe",
  "Europe/Kiev": "Europe/Kyiv",
};

/** Abbreviations do not name a zone (IST is three of them), so they are only hinted at. */
const ABBREVIATIONS: Readonly<Record<string, string>> = {
  AEDT: "Australia/Sydney",
  AEST: "Australia/Sydney",
  BST: "Europe/London",
  CDT: "America/Chicago",
  CEST: "Europe/Berlin",
  CET: "Europe/Berlin",
  CST: "America/Chicago",
  EDT: "America/New_York",
  EEST: "Europe/Athens",
  EET: "Europe/Athens",
  EST: "America/New_York",
  HKT: "Asia/Hong_Kong",
  IST: "Asia/Kolkata",
  JST: "Asia/Tokyo",
  KST: "Asia/Seoul",
  MDT: "America/Denver",
  MSK: "Europe/Moscow",
  MST: "America/Denver",
  PDT: "America/Los_Angeles",
  PST: "America/Los_Angeles",
  SGT: "Asia/Singapore",
  WET: "Europe/Lisbon",
};

export function allZones(): string[] {
  return [...new Set(["UTC", ...Intl.supportedValuesOf("timeZone").map(currentName)])];
}

/** Accepts an IANA name in any letter case, `UTC`, `GMT`, or the city a zone is named after. */
export function resolveZone(text: string): Attempt<string> {
  const wanted = text.trim().replace(/\s+/gu, "_");
  const zones = allZones();
  const folded = wanted.toLowerCase();
  const known = zones.find((zone) => zone.toLowerCase() === folded || cityOf(zone) === folded);
  if (known !== undefined) return success(known);
  if (folded === "gmt" || folded === "z") return success("UTC");
  // Older names of a zone are not listed, and still understood.
  const canonical = wanted.includes("/") ? canonicalName(wanted) : undefined;
  if (canonical !== undefined) return success(canonical);
  return problem(`Unknown time zone "${text.trim()}". ${hintFor(wanted, zones)}`);
}

function hintFor(wanted: string, zones: readonly string[]): string {
  const abbreviated = ABBREVIATIONS[wanted.toUpperCase()];
  if (abbreviated !== undefined) {
    return `Abbreviations are ambiguous: name a city's zone, such as "${abbreviated}".`;
  }
  const byCity = new Map(zones.map((zone) => [cityOf(zone), zone]));
  const city = closest(wanted, byCity.keys());
  const near = (city === undefined ? undefined : byCity.get(city)) ?? closest(wanted, zones);
  return near === undefined
    ? 'Zones are named like "Europe/Berlin"; find_time_zones lists them.'
    : `Did you mean "${near}"?`;
}

function cityOf(zone: string): string {
  return zone.slice(zone.lastIndexOf("/") + 1).toLowerCase();
}

function currentName(zone: string): string {
  return RENAMED[zone] ?? zone;
}

function canonicalName(zone: string): string | undefined {
  try {
    const format = new Intl.DateTimeFormat("en-US", { timeZone: zone });
    return currentName(format.resolvedOptions().timeZone);
  } catch {
    return undefined;
  }
}

/** Zones whose name contains every word of the query. */
export function matchZones(query: string): string[] {
  const words = query.toLowerCase().split(/[\s/]+/u);
  return allZones().filter((zone) => {
    const name = zone.toLowerCase().replaceAll("_", " ");
    return words.every((word) => name.includes(word.replaceAll("_", " ")));
  });
}
