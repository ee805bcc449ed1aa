import { describe, expect, it } from "vitest";
import { allZones, matchZones, resolveZone } from "../../src/demo/zones.ts";

describe("resolveZone", () => {
  it.each([
    ["Europe/Berlin", "Europe/Berlin"],
    [" europe/berlin ", "Europe/Berlin"],
    ["utc", "UTC"],
    ["GMT", "UTC"],
    ["Z", "UTC"],
    ["Tokyo", "Asia/Tokyo"],
    ["new york", "America/New_York"],
    ["Kolkata", "Asia/Kolkata"],
    ["Asia/Calcutta", "Asia/Kolkata"],
    ["Europe/Kyiv", "Europe/Kyiv"],
    ["buenos aires", "America/Argentina/Buenos_Aires"],
    ["US/Pacific", "America/Los_Angeles"],
  ])("reads %j as %s", (text, zone) => {
    expect(resolveZone(text)).toEqual({ ok: true, value: zone });
  });

  it.each([
    ["Berln", 'Unknown time zone "Berln". Did you mean "Europe/Berlin"?'],
    ["Europe/Pariss", 'Unknown time zone "Europe/Pariss". Did you mean "Europe/Paris"?'],
    [
      "pst",
      'Unknown time zone "pst". Abbreviations are ambiguous: name a city\'s zone, such as "America/Los_Angeles".',
    ],
    [
      "qqqqqqqqq",
      'Unknown time zone "qqqqqqqqq". Zones are named like "Europe/Berlin"; find_time_zones lists them.',
    ],
  ])("refuses %j with a remedy", (text, problem) => {
    expect(resolveZone(text)).toEqual({ ok: false, problem });
  });

  it("understands every zone that is listed", () => {
    for (const zone of allZones()) expect(resolveZone(zone)).toEqual({ ok: true, value: zone });
  });
});

describe("matchZones", () => {
  it.each([
    ["york", ["America/New_York"]],
    ["new york", ["America/New_York"]],
    ["america/new_york", ["America/New_York"]],
    ["ARGENTINA ushuaia", ["America/Argentina/Ushuaia"]],
    ["nowhere", []],
  ])("finds %j", (query, zones) => {
    expect(matchZones(query)).toEqual(zones);
  });

  it("finds all for an empty query", () => {
    expect(matchZones("")).toEqual(allZones());
  });
});
