import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  describeArguments,
  hashLarge,
  isoTime,
  keepArguments,
  suspiciousLine,
  toLine,
} from "../../../../src/core/guard/audit/record.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import { record } from "./records.ts";

const hashOf = (json: string): string =>
  createHash("sha256").update(json).digest("hex").slice(0, 16);

/** Hides one word, wherever it stands. */
const redact = {
  value: <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll("hunter2", "***")) as T,
};

describe("a call's arguments", () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['{"a":{"c":2,"d":3},"b":1}', { a: { c: 2, d: 3 }, b: 1 }, { b: 1, a: { d: 3, c: 2 } }],
    ['{"a":"x","b":true}', { a: "x", b: true }, { b: true, a: "x" }],
  ])("are a hash that does not depend on the order of keys: %s", (json, sorted, mixed) => {
    for (const args of [sorted, mixed]) {
      const described = describeArguments(keepArguments(args), undefined);
      expect(described).toEqual({ argumentsHash: hashOf(json) });
    }
  });

  it("are themselves where that is asked for, without secrets", () => {
    expect(describeArguments(keepArguments({ pass: "hunter2" }), redact)).toEqual({
      arguments: { pass: "***" },
    });
  });

  it("are those of the moment the call was made", () => {
    const args: JsonObject = { list: [1] };
    const kept = keepArguments(args);
    args["list"] = [2];
    expect(describeArguments(kept, undefined)).toEqual({ argumentsHash: hashOf('{"list":[1]}') });
  });

  it.each<[string, JsonObject]>([
    ["in a text", { text: "x".repeat(20_000) }],
    ["in many keys", Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`k${at}`, at]))],
    ["in a list", { list: Array.from({ length: 5000 }, () => 1) }],
    ["in a list of texts", { list: [["x".repeat(10_000)], ["y".repeat(10_000)]] }],
  ])("that are large, %s, are not copied, and hashed in any case", async (_, args) => {
    expect(keepArguments(args)).toEqual({ kind: "large", args });
    const kept = await hashLarge(args);
    expect(kept).toEqual({ kind: "hash", hash: hashOf(JSON.stringify(args)) });
    expect(describeArguments(kept, redact)).toEqual({
      argumentsHash: hashOf(JSON.stringify(args)),
    });
  });

  it.each<[string, () => JsonObject]>([
    [
      "a circle",
      () => {
        const circle: JsonObject = {};
        circle["self"] = circle;
        return circle;
      },
    ],
    ["a BigInt", () => ({ n: 1n })],
    [
      "a key that cannot be read",
      () => ({
        get text() {
          throw new Error("not now");
        },
      }),
    ],
  ])("that are no JSON are left out: %s", (_, make) => {
    expect(describeArguments(keepArguments(make()), undefined)).toEqual({});
  });
});

describe("the time of a line", () => {
  it("is the one that Date writes, whatever time was asked for before", () => {
    const times = [0, 1, 999, 1000, 1_763_290_800_007, 1_763_290_800_070, 1_763_290_801_700, 5];
    expect(times.map(isoTime)).toEqual(times.map((ms) => new Date(ms).toISOString()));
  });
});

it.each([
  ["a call", (tool: string) => toLine(record({ tool }))],
  [
    "words that look like instructions",
    (tool: string) => suspiciousLine(0, { agent: "default", server: "docs", tool, patterns: [] }),
  ],
])("a line about %s does not grow with the name that a client sends", (_, lineOf) => {
  const line = lineOf(`resource:file:///${"x".repeat(1_000_000)}`);
  expect(line.length).toBeLessThan(4000);
  expect(JSON.parse(line)).toMatchObject({ tool: expect.stringMatching(/^resource:file:.*…$/) });
});
