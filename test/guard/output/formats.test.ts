import { describe, expect, it } from "vitest";
import { FORMATS } from "../../../src/guard/output/formats.ts";

const cases: Record<string, { yes: string[]; no: string[] }> = {
  "date-time": {
    yes: ["2026-02-28T23:59:60Z", "2026-01-01t00:00:00.123456+01:00", "2026-01-01 00:00:00-0530"],
    no: ["2026-02-29T00:00:00Z", "2026-01-01", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00", ""],
  },
  date: {
    yes: ["2024-02-29", "0001-01-01", "9999-12-31"],
    no: ["2023-02-29", "2026-13-01", "2026-00-10", "26-01-01", "2026-01-01 "],
  },
  time: {
    yes: ["12:30:00Z", "23:59:60+00:00"],
    no: ["12:30", "25:00:00Z", "12:60:00Z", "12:30:61Z"],
  },
  email: { yes: ["a@b", "jörg.x@example.com"], no: ["a", "a@", "@b", "a b@c", "a@b@c"] },
  uri: {
    yes: ["https://example.com/a?b#c", "urn:isbn:1", "mailto:a@b", "https://example.com/ä"],
    no: ["/relative", "//host/path", "https://a b", "1a:x", ""],
  },
  uuid: {
    yes: ["123e4567-e89b-12d3-a456-426614174000", "urn:uuid:123E4567-e89b-12d3-a456-426614174000"],
    no: ["123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400g"],
  },
  ipv4: { yes: ["127.0.0.1"], no: ["256.0.0.1", "1.2.3", "::1"] },
  ipv6: { yes: ["::1", "fe80::1"], no: ["fe80::1%eth0", "127.0.0.1", "1::2::3"] },
};

describe.each(Object.entries(cases))("the format %s", (format, { yes, no }) => {
  it.each(yes)("takes %j", (text) => expect(FORMATS[format]?.(text)).toBe(true));
  it.each(no)("refuses %j", (text) => expect(FORMATS[format]?.(text)).toBe(false));

  it("ends at once on a long text", () => {
    const long = ["a", "1", ":", "@", "2026-01-01T00:00:00.", "a@", "a:"].map((start) =>
      start.padEnd(1_000_000, start),
    );
    for (const text of long) expect(FORMATS[format]?.(text)).toBeTypeOf("boolean");
  });
});

it("are exactly these", () => {
  expect(Object.keys(FORMATS).toSorted()).toEqual(Object.keys(cases).toSorted());
});
