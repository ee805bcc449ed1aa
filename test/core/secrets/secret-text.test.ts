import { describe, expect, it } from "vitest";
import { keyOfJson, secretText } from "../../../src/core/secrets/secret-text.ts";

describe("what a file or a program gives", () => {
  it.each([
    ["value", "value"],
    ["value\n", "value"],
    ["value\r\n", "value"],
    ["value\n\n", "value\n"],
    [" value ", " value "],
    ["grüße ✓", "grüße ✓"],
    ["", ""],
  ])("%j is %j", (given, expected) => {
    expect(secretText(Buffer.from(given))).toBe(expected);
  });

  it("is no value if it is binary", () => {
    expect(() => secretText(Buffer.from([0xff, 0xfe, 0x41]))).toThrow(
      expect.objectContaining({
        code: "SECRET_UNAVAILABLE",
        permanent: true,
        message: "the value is binary data, not text",
      }),
    );
  });
});

describe("a key of a JSON object", () => {
  const TEXT = '{ "user": "me", "port": 5432, "on": true, "deep": { "a": [1] }, "none": null }';

  it.each([
    ["user", "me"],
    ["port", "5432"],
    ["on", "true"],
    ["deep", '{"a":[1]}'],
  ])("%s is %s", (key, expected) => {
    expect(keyOfJson(TEXT, key)).toBe(expected);
  });

  it.each([
    [TEXT, "pass", 'there is no key "pass"; the keys are "user", "port", "on", "deep", "none"'],
    [TEXT, "none", 'there is no key "none"; the keys are "user", "port", "on", "deep", "none"'],
    [TEXT, "__proto__", /^there is no key "__proto__"/],
    ["{}", "a", 'there is no key "a"; there are no keys'],
    ["hunter2-hunter2", "a", 'the value is not a JSON object, so it has no key "a"'],
    ["[1]", "a", 'the value is not a JSON object, so it has no key "a"'],
  ])("of %s is missing: %s", (text, key, message) => {
    expect(() => keyOfJson(text, key)).toThrow(message);
    expect(() => keyOfJson(text, key)).not.toThrow(/hunter2|5432/);
  });
});
