import { describe, expect, it } from "vitest";
import { CATEGORIES, convertUnits, findUnit, symbolsOf, UNITS } from "../../src/demo/units.ts";

describe("convertUnits", () => {
  it.each([
    [1, "mi", "km", 1.609344],
    [0.1, "mi", "km", 0.1609344],
    [26.2, "miles", "kilometers", 42.1648128],
    [1, "inch", "cm", 2.54],
    [6, "feet", "m", 1.8288],
    [1, "acre", "m²", 4046.8564224],
    [1, "gal", "l", 3.785411784],
    [16, "tbsp", "cup", 1],
    [150, "lbs", "kg", 68.0388555],
    [98.6, "°F", "°C", 37],
    [-40, "fahrenheit", "celsius", -40],
    [0, "C", "K", 273.15],
    [0, "K", "°F", -459.67],
    [491.67, "rankine", "°C", 0],
    [100, "km/h", "mph", 62.1371192237334],
    [1, "knot", "km/h", 1.852],
    [36, "km/h", "m/s", 10],
    [1, "week", "hours", 168],
    [1, "MiB", "kB", 1048.576],
    [1, "GB", "Mbit", 8000],
    [1, "kWh", "MJ", 3.6],
    [1, "hp", "W", 745.6998715822702],
    [760, "Torr", "atm", 1],
    [1, "psi", "Pa", 6894.757293168362],
    [1e300, "km", "m", 1e303],
    [1e-300, "m", "km", 1e-303],
  ])("%d %s in %s is %d", (value, from, to, result) => {
    expect(convertUnits(value, from, to)).toMatchObject({ ok: true, value: { result } });
  });

  it("names the units by their symbols, and the category", () => {
    expect(convertUnits(5, "Miles", "kilometre")).toEqual({
      ok: true,
      value: { value: 5, from: "mi", to: "km", result: 8.04672, category: "length" },
    });
  });

  it.each([
    ["kilogrm", "g", 'Unknown unit "kilogrm". Did you mean "kilogram"?'],
    ["kg", "ounze", 'Unknown unit "ounze". Did you mean "ounce"?'],
    ["xyzzyq", "g", `Unknown unit "xyzzyq". Categories: ${CATEGORIES.join(", ")}.`],
    [
      "kg",
      "m",
      "Cannot convert kilogram (mass) to metre (length). Units of mass: kg, g, mg, µg, t, oz, lb, " +
        "st, short ton, long ton, ct.",
    ],
    [
      "mb",
      "kB",
      'The unit "mb" can be read in more than one way: MB (megabyte) or Mbit (megabit)?',
    ],
  ])("from %s to %s is refused with a remedy", (from, to, text) => {
    expect(convertUnits(1, from, to)).toEqual({ ok: false, problem: text });
  });
});

describe("findUnit", () => {
  it.each([
    ["MB", "MB"],
    ["Mb", "Mbit"],
    ["KG", "kg"],
    ["  fluid   ounces ", "fl oz"],
    ["Nautical Mile", "nmi"],
    ["feet", "ft"],
    ["us", "µs"],
    ["c", "c"],
    ["C", "°C"],
  ])("reads %j as %s", (text, symbol) => {
    expect(findUnit(text)).toMatchObject({ ok: true, value: { symbol } });
  });

  it.each(UNITS.map((unit) => [unit.symbol, unit]))(
    "finds %s by each of its spellings",
    (_, unit) => {
      for (const spelling of [unit.symbol, unit.name, `${unit.name}s`, ...unit.aliases]) {
        expect(findUnit(spelling)).toEqual({ ok: true, value: unit });
      }
    },
  );

  it("has a base unit in every category", () => {
    for (const category of CATEGORIES) {
      const base = UNITS.find((unit) => unit.category === category && unit.factor === "1");
      expect(symbolsOf(category)).toContain(base?.symbol);
    }
  });
});
