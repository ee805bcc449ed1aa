import { expect, it } from "vitest";
import { convertUnits } from "../../src/demo/units.ts";

it.each([
  [1, "mi", "km", 1.609344],
  [26.2, "miles", "kilometers", 42.1648128],
  [1, "inch", "cm", 2.54],
  [6, "Feet", "m", 1.8288],
  [1, "gal", "l", 3.785411784],
  [1, " fluid   ounce", "ml", 29.5735295625],
  [150, "lbs", "kg", 68.0388555],
  [98.6, "°F", "°C", 37],
  [-40, "fahrenheit", "celsius", -40],
  [0, "C", "K", 273.15],
  [0, "K", "°F", -459.67],
])("%d %s in %s is %d", (value, from, to, result) => {
  expect(convertUnits(value, from, to).result).toBe(result);
});

it("names the units by their symbols", () => {
  expect(convertUnits(5, "Miles", "kilometre")).toEqual({ from: "mi", to: "km", result: 8.04672 });
});

it.each([
  ["kilogrm", "g", 'Unknown unit "kilogrm". Did you mean "kilogram"?'],
  ["kg", "ounze", 'Unknown unit "ounze". Did you mean "ounce"?'],
  ["xyzzyq", "g", /^Unknown unit "xyzzyq"\. Known units: m, km, .*°F\.$/],
  ["kg", "m", "Cannot convert kg (mass) to m (length). Units of mass: kg, g, oz, lb."],
])("from %s to %s is refused with a remedy", (from, to, message) => {
  expect(() => convertUnits(1, from, to)).toThrow(message);
});
