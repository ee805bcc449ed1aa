import { describe, expect, it } from "vitest";
import { add, divide, multiply, ratio, subtract, toNumber } from "../../src/demo/ratio.ts";

describe("ratio", () => {
  it.each([
    ["12", 12],
    ["-0.0254", -0.0254],
    ["1e-9", 1e-9],
    ["1.5e3", 1500],
    ["1e+21", 1e21],
    ["5/9", 5 / 9],
    ["0", 0],
    ["1.7976931348623157e+308", Number.MAX_VALUE],
    ["5e-324", Number.MIN_VALUE],
  ])("reads %s", (text, number) => {
    expect(toNumber(ratio(text))).toBe(number);
  });

  it.each([
    ["adds", add, "0.1", "0.2", 0.3],
    ["subtracts", subtract, "0.3", "0.1", 0.2],
    ["multiplies", multiply, "1.1", "1.1", 1.21],
    ["divides", divide, "0.3", "0.1", 3],
    ["divides without end", divide, "1", "3", 1 / 3],
    ["keeps the sign", divide, "-1", "8", -0.125],
  ])("%s exactly", (_, operation, a, b, result) => {
    expect(toNumber(operation(ratio(a), ratio(b)))).toBe(result);
  });
});
