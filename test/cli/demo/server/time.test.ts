import { describe, expect, it } from "vitest";
import { findZone, readTime, timeIn, zonesWith } from "../../../../src/cli/demo/server/time.ts";

const NOW = Date.UTC(2026, 2, 28, 23, 30, 15);

describe("findZone", () => {
  it.each([
    ["Europe/Berlin", "Europe/Berlin"],
    [" europe/berlin ", "Europe/Berlin"],
    ["utc", "UTC"],
    ["Tokyo", "Asia/Tokyo"],
    ["new york", "America/New_York"],
    ["Kolkata", "Asia/Kolkata"],
    ["Asia/Calcutta", "Asia/Calcutta"],
    ["Kyiv", "Europe/Kyiv"],
  ])("reads %j as %s", (text, zone) => {
    expect(findZone(text)).toBe(zone);
  });

  it.each([
    ["Berln", 'Unknown time zone "Berln". Did you mean "Europe/Berlin"?'],
    ["Europe/Pariss", 'Unknown time zone "Europe/Pariss". Did you mean "Europe/Paris"?'],
    ["qqqqqqqqq", 'Unknown time zone "qqqqqqqqq". Zones are named like "Europe/Berlin".'],
  ])("refuses %j with a remedy", (text, message) => {
    expect(() => findZone(text)).toThrow(message);
  });
});

describe("zonesWith", () => {
  it.each([
    ["york", ["America/New_York"]],
    [" new york", ["America/New_York"]],
    ["nowhere", []],
  ])("finds %j", (text, zones) => {
    expect(zonesWith(text)).toEqual(zones);
  });
});

describe("timeIn", () => {
  it.each([
    ["2026-01-15T12:00:00Z", "Europe/Berlin", "2026-01-15T13:00:00+01:00", "Thursday"],
    ["2026-07-15T12:00:00Z", "Europe/Berlin", "2026-07-15T14:00:00+02:00", "Wednesday"],
    ["2026-07-15T12:00:00Z", "Asia/Kolkata", "2026-07-15T17:30:00+05:30", "Wednesday"],
    ["2026-12-31T23:59:59Z", "Pacific/Kiritimati", "2027-01-01T13:59:59+14:00", "Friday"],
    ["1970-01-01T00:00:00Z", "UTC", "1970-01-01T00:00:00+00:00", "Thursday"],
  ])("%s in %s is %s", (instant, zone, iso, weekday) => {
    expect(timeIn(zone, Date.parse(instant))).toMatchObject({ zone, iso, weekday });
  });
});

describe("readTime", () => {
  it.each([
    ["2026-07-15T14:30", "Europe/Berlin", "2026-07-15T12:30:00Z"],
    ["2026-01-15 14:30:05", "Europe/Berlin", "2026-01-15T13:30:05Z"],
    ["2026-01-15T14:30:05.250", "America/New_York", "2026-01-15T19:30:05Z"],
    ["2026-01-15", "Asia/Tokyo", "2026-01-14T15:00:00Z"],
    ["2026-01-15T14:30Z", "Asia/Tokyo", "2026-01-15T14:30:00Z"],
    ["2026-01-15T14:30+05:30", "Asia/Tokyo", "2026-01-15T09:00:00Z"],
    ["2026-01-15 14:30 -0800", "Asia/Tokyo", "2026-01-15T22:30:00Z"],
    ["9:05", "UTC", "2026-03-28T09:05:00Z"],
    // In Tokyo it is the next day already.
    ["09:05", "Asia/Tokyo", "2026-03-29T00:05:00Z"],
    ["now", "Asia/Tokyo", "2026-03-28T23:30:15Z"],
    ["2024-02-29T00:00", "UTC", "2024-02-29T00:00:00Z"],
    // On the days when the clocks change, before and after they do.
    ["2026-03-29T01:59", "Europe/Berlin", "2026-03-29T00:59:00Z"],
    ["2026-03-29T03:00", "Europe/Berlin", "2026-03-29T01:00:00Z"],
    ["2026-10-25T01:59", "Europe/Berlin", "2026-10-24T23:59:00Z"],
    ["2026-10-25T03:00", "Europe/Berlin", "2026-10-25T02:00:00Z"],
    ["2026-11-01T03:00", "America/New_York", "2026-11-01T08:00:00Z"],
  ])("reads %s in %s", (text, zone, instant) => {
    expect(readTime(text, zone, NOW)).toBe(Date.parse(instant));
  });

  it.each([
    ["", 'Cannot read the time "". Write it like 2026-03-29T14:30 or 14:30.'],
    ["tomorrow", 'Cannot read the time "tomorrow". Write it like 2026-03-29T14:30 or 14:30.'],
    ["Z", 'Cannot read the time "Z". Write it like 2026-03-29T14:30 or 14:30.'],
    ["2026-02-30", 'There is no such time as "2026-02-30".'],
    ["2026-13-01", 'There is no such time as "2026-13-01".'],
    ["25:00", 'There is no such time as "25:00".'],
    ["12:60", 'There is no such time as "12:60".'],
  ])("refuses %j", (text, message) => {
    expect(() => readTime(text, "UTC", NOW)).toThrow(message);
  });
});
