import { describe, expect, it } from "vitest";
import { fieldLines, readField } from "../../../src/cli/questions/form-field.ts";
import { type FormField, readForm } from "../../../src/core/types/form.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";

const COLOURS = {
  type: "string",
  oneOf: [
    { const: "r", title: "Red" },
    { const: "g", title: "Green" },
  ],
};
const SIDES = { type: "array", items: { enum: ["left", "right"] } };

function fieldOf(property: JsonObject, required: string[] = []): FormField {
  const fields = readForm({ properties: { it: property }, required });
  const [field] = typeof fields === "string" ? [] : fields;
  if (field === undefined) throw new Error(JSON.stringify(fields));
  return field;
}

describe("a field is asked for", () => {
  it.each<[JsonObject, string[]]>([
    [{ type: "string" }, ["  it", "  > "]],
    [
      { type: "string", title: "Name", description: "Your \u001b[31mname", default: "Ada" },
      ["  Name: Your \\u{1b}[31mname", "  [Ada] > "],
    ],
    [{ type: "integer", default: 3 }, ["  it", "  [3] > "]],
    [{ type: "boolean" }, ["  it", "  [y/n] > "]],
    [{ type: "boolean", default: true }, ["  it", "  [Y/n] > "]],
    [{ type: "boolean", default: false }, ["  it", "  [y/N] > "]],
    [{ ...COLOURS, default: "g" }, ["  it", "    1) Red", "    2) Green", "  [Green] > "]],
    [SIDES, ["  it", "    1) left", "    2) right", "  numbers, separated by commas > "]],
    [
      { ...SIDES, default: ["left", "right"] },
      ["  it", "    1) left", "    2) right", "  numbers, separated by commas [left, right] > "],
    ],
  ])("%j", (property, lines) => {
    expect(fieldLines(fieldOf(property))).toEqual(lines);
  });

  it("with a star if it is required", () => {
    expect(fieldLines(fieldOf({ type: "string" }, ["it"]))).toEqual(["  it *", "  > "]);
  });
});

describe("a line", () => {
  it.each<[JsonObject, string, unknown]>([
    [{ type: "string" }, " Ada ", "Ada"],
    [{ type: "string", default: "Ada" }, "", "Ada"],
    [{ type: "string" }, "", undefined],
    [{ type: "number" }, "1.5", 1.5],
    [{ type: "boolean" }, "y", true],
    [{ type: "boolean" }, "YES", true],
    [{ type: "boolean", default: true }, "no", false],
    [COLOURS, "2", "g"],
    [COLOURS, "r", "r"],
    [COLOURS, "Red", "r"],
    [SIDES, "1, right", ["left", "right"]],
  ])("%j: %j is %j", (property, line, value) => {
    expect(readField(fieldOf(property), line)).toEqual({ value });
  });

  it.each<[JsonObject, string, string]>([
    [{ type: "string" }, " ", "is required"],
    [{ type: "string", minLength: 3 }, "ab", "is shorter than 3"],
    [{ type: "number" }, "many", "is not a number"],
    [{ type: "boolean" }, "perhaps", "is neither true nor false"],
    [COLOURS, "3", "is not one of the choices"],
    [SIDES, "1,,2", "has a value that is not one of the choices"],
  ])("%j: %j %s", (property, line, problem) => {
    expect(readField(fieldOf(property, ["it"]), line)).toEqual({ problem });
  });
});
