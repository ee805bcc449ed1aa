import { describe, expect, it } from "vitest";
import { parseTemplate } from "../../../src/config/schema/references.ts";

const text = (value: string) => ({ kind: "text", text: value });
const variable = (name: string, fallback?: string) =>
  fallback === undefined ? { kind: "variable", name } : { kind: "variable", name, fallback };

describe("a value's template", () => {
  it.each([
    ["", []],
    ["plain", [text("plain")]],
    ["${A}", [variable("A")]],
    ["Bearer ${TOKEN_2}!", [text("Bearer "), variable("TOKEN_2"), text("!")]],
    ["${A}${_b}", [variable("A"), variable("_b")]],
    ["${A:-}", [variable("A", "")]],
    ["${A:-a:-b c}", [variable("A", "a:-b c")]],
    ["${A:-{x}", [variable("A", "{x")]],
    ["$HOME costs $5", [text("$HOME costs $5")]],
    ["$", [text("$")]],
    ["$${A}", [text("${A}")]],
    ["$$${A}", [text("$${A}")]],
    ["$$", [text("$$")]],
    ["}", [text("}")]],
  ])("%j is understood", (value, parts) => {
    expect(parseTemplate(value)).toEqual({ kind: "parts", parts });
  });

  it.each([
    ["${A", 0, 'has "${" without a closing "}"'],
    ["ab${", 2, 'has "${" without a closing "}"'],
    ["${}", 0, "has a malformed ${…}"],
    ["${1A}", 0, "has a malformed ${…}"],
    ["${A B}", 0, "has a malformed ${…}"],
    ["${A-b}", 0, "has a malformed ${…}"],
    ["${env:A}", 0, "has a malformed ${…}"],
    ["x${A:-${B}}", 1, 'has "${" inside another "${"'],
  ])("%j is malformed", (value, offset, reason) => {
    expect(parseTemplate(value)).toEqual({ kind: "malformed", offset, reason });
  });
});
