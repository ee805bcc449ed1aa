import { describe, expect, it } from "vitest";
import { formatOffset, momentIn, offsetAt, parseTime } from "../../src/demo/time.ts";

const NOW = Date.UTC(2026, 2, 28, 23, 30, 15);

describe("momentIn", () => {
  it.each([
    ["2026-01-15T12:00:00Z", "Europe/Berlin", "2026-01-15T13:00:00+01:00", "Thursday", false],
    ["2026-07-15T12:00:00Z", "Europe/Berlin", "2026-07-15T14:00:00+02:00", "Wednesday", true],
    ["2026-01-15T12:00:00Z", "Australia/Sydney", "2026-01-15T23:00:00+11:00", "Thursday", true],
    ["2026-07-15T12:00:00Z", "Asia/Kolkata", "2026-07-15T17:30:00+05:30", "Wednesday", false],
    ["2026-07-15T12:00:00Z", "America/St_Johns", "2026-07-15T09:30:00-02:30", "Wednesday", true],
    ["2026-12-31T23:59:59Z", "Pacific/Kiritimati", "2027-01-01T13:59:59+14:00", "Friday", false],
    ["1970-01-01T00:00:00Z", "UTC", "1970-01-01T00:00:00+00:00", "Thursday", false],
    ["1969-12-31T23:59:59.500Z", "UTC", "1969-12-31T23:59:59+00:00", "Wednesday", false],
  ])("%s in %s is %s", (instant, zone, iso, weekday, daylightSaving) => {
    expect(momentIn(Date.parse(instant), zone)).toMatchObject({ iso, weekday, daylightSaving });
  });
});

describe("offsetAt and formatOffset", () => {
  it.each([
    [0, "+00:00"],
    [-5.5 * 3_600_000, "-05:30"],
    [12.75 * 3_600_000, "+12:45"],
    [(19 * 60 + 32) * 1000, "+00:19:32"],
  ])("%d ms is written %s", (ms, text) => {
    expect(formatOffset(ms)).toBe(text);
  });

  it("follows a zone through its history", () => {
    const inYear = (year: number) => formatOffset(offsetAt(Date.UTC(year, 0, 1), "Europe/Moscow"));
    expect([2010, 2012, 2015].map(inYear)).toEqual(["+03:00", "+04:00", "+03:00"]);
  });
});

describe("parseTime", () => {
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
  ])("reads %s in %s", (text, zone, instant) => {
    expect(parseTime(text, zone, NOW)).toEqual({
      ok: true,
      value: { epoch: Date.parse(instant) },
    });
  });

  it.each([
    // Spring: 02:00 to 03:00 does not exist.
    ["2026-03-29T01:59", "Europe/Berlin", "2026-03-29T00:59:00Z", undefined],
    ["2026-03-29T02:30", "Europe/Berlin", "2026-03-29T01:30:00Z", "skip"],
    ["2026-03-29T03:00", "Europe/Berlin", "2026-03-29T01:00:00Z", undefined],
    // Autumn: 02:00 to 03:00 comes twice.
    ["2026-10-25T01:59", "Europe/Berlin", "2026-10-24T23:59:00Z", undefined],
    ["2026-10-25T02:30", "Europe/Berlin", "2026-10-25T00:30:00Z", "twice"],
    ["2026-10-25T03:00", "Europe/Berlin", "2026-10-25T02:00:00Z", undefined],
    ["2026-03-08T02:30", "America/New_York", "2026-03-08T07:30:00Z", "skip"],
    ["2026-11-01T01:30", "America/New_York", "2026-11-01T05:30:00Z", "twice"],
    // Half an hour, on the southern half.
    ["2026-04-05T01:45", "Australia/Lord_Howe", "2026-04-04T14:45:00Z", "twice"],
    // Samoa left out a whole day.
    ["2011-12-30T12:00", "Pacific/Apia", "2011-12-30T22:00:00Z", "skip"],
  ])("around a change of clocks reads %s in %s", (text, zone, instant, word) => {
    const parsed = parseTime(text, zone, NOW);
    expect(parsed).toMatchObject({ ok: true, value: { epoch: Date.parse(instant) } });
    const note = parsed.ok ? parsed.value.note : undefined;
    expect(note?.includes(word ?? "") ?? false).toBe(word !== undefined);
  });

  it.each([
    ["", 'Cannot read the time "". Write it like 2026-03-29T14:30 or 14:30.'],
    ["tomorrow", 'Cannot read the time "tomorrow". Write it like 2026-03-29T14:30 or 14:30.'],
    ["Z", 'Cannot read the time "Z". Write it like 2026-03-29T14:30 or 14:30.'],
    ["2026-02-30", 'There is no such time as "2026-02-30".'],
    ["2026-13-01", 'There is no such time as "2026-13-01".'],
    ["2026-01-00", 'There is no such time as "2026-01-00".'],
    ["25:00", 'There is no such time as "25:00".'],
    ["12:60", 'There is no such time as "12:60".'],
    ["1066-10-14", "Times before 1900 are not supported."],
  ])("refuses %j", (text, problem) => {
    expect(parseTime(text, "UTC", NOW)).toEqual({ ok: false, problem });
  });
});
