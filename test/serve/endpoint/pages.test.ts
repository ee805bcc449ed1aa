// Pages of long lists.

import { describe, expect, it } from "vitest";
import { pageOf } from "../../../src/serve/endpoint/pages.ts";

const items = Array.from({ length: 2500 }, (_, index) => index);

describe("a long list", () => {
  it("comes in pages that have every item once", () => {
    const seen: number[] = [];
    const sizes: number[] = [];
    let cursor: string | undefined;
    do {
      const page = pageOf(items, cursor, "tools 1");
      seen.push(...(page?.items ?? []));
      sizes.push(page?.items.length ?? 0);
      cursor = page?.nextCursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(items);
    expect(sizes).toEqual([1000, 1000, 500]);
  });

  it("that fits on one page has no cursor", () => {
    expect(pageOf(items.slice(0, 1000), undefined, "tools 1")).toEqual({
      items: items.slice(0, 1000),
    });
  });

  const { nextCursor } = pageOf(items, undefined, "tools 1") ?? {};

  it.each<[string, unknown, string]>([
    ["made for another list", nextCursor, "prompts 1"],
    ["made before the list changed", nextCursor, "tools 2"],
    ["that nobody made", "bm90aGluZw", "tools 1"],
    ["that is not a text", 5, "tools 1"],
    ["beyond the end", Buffer.from("2501 tools 1").toString("base64url"), "tools 1"],
    ["that is endless", "A".repeat(100_000), "tools 1"],
  ])("refuses a cursor %s", (_, cursor, list) => {
    expect(pageOf(items, cursor, list)).toBeUndefined();
  });
});
