// Exact fractions, so that a conversion by exact factors gives the digits a person expects: 98.6 °F is
// 37 °C and not 36.99999999999999.

export interface Ratio {
  numerator: bigint;
  denominator: bigint;
}

/** More digits than a double has, so that rounding to one is not seen. */
const DIGITS = 25;

/** Reads `12`, `-0.0254`, `1e-9` or `5/9`. */
export function ratio(text: string): Ratio {
  const [top = "", bottom] = text.split("/");
  return bottom === undefined ? decimal(top) : divide(decimal(top), decimal(bottom));
}

function decimal(text: string): Ratio {
  const [mantissa = "", exponent = "0"] = text.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const power = Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction);
  return power < 0
    ? { numerator: digits, denominator: 10n ** BigInt(-power) }
    : { numerator: digits * 10n ** BigInt(power), denominator: 1n };
}

export function add(a: Ratio, b: Ratio): Ratio {
  return {
    numerator: a.numerator * b.denominator + b.numerator * a.denominator,
    denominator: a.denominator * b.denominator,
  };
}

export function subtract(a: Ratio, b: Ratio): Ratio {
  return add(a, { ...b, numerator: -b.numerator });
}

export function multiply(a: Ratio, b: Ratio): Ratio {
  return {
    numerator: a.numerator * b.numerator,
    denominator: a.denominator * b.denominator,
  };
}

/** `b` must not be zero. */
export function divide(a: Ratio, b: Ratio): Ratio {
  return multiply(a, { numerator: b.denominator, denominator: b.numerator });
}

export function toNumber({ numerator, denominator }: Ratio): number {
  const power = DIGITS + String(denominator).length - String(numerator).length;
  const scaled =
    power < 0
      ? numerator / (denominator * 10n ** BigInt(-power))
      : (numerator * 10n ** BigInt(power)) / denominator;
  return Number(`${scaled}e${-power}`);
}
