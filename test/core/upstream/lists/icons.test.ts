import { describe, expect, it } from "vitest";
import type { Icon } from "../../../../src/core/types/icon.ts";
import { dropSecretIcons, readIcons } from "../../../../src/core/upstream/lists/icons.ts";

const src = "https://icons.example/a.png";
const data = "data:image/png;base64,aGVsbG8=";

describe("icons", () => {
  it.each<[string, unknown, unknown]>([
    ["an address", [{ src }], [{ src }]],
    ["data", [{ src: data, mimeType: "image/png" }], [{ src: data, mimeType: "image/png" }]],
    [
      "all that is known of one, and nothing else",
      [{ src, mimeType: "image/png", sizes: ["48x48", "any"], theme: "dark", onload: "x" }],
      [{ src, mimeType: "image/png", sizes: ["48x48", "any"], theme: "dark" }],
    ],
    [
      "without what is malformed",
      [{ src, mimeType: 5, sizes: ["big", 7], theme: "pink" }],
      [{ src }],
    ],
    ["without a type that is a sentence", [{ src, mimeType: "image/png ok" }], [{ src }]],
    ["the good one of two", [{ src: "http://icons.example/a.png" }, { src }], [{ src }]],
    ["no list", { src }, undefined],
    ["an empty list", [], undefined],
    ["no object", ["https://icons.example/a.png", null], undefined],
    ["no source", [{}], undefined],
    ["plain http", [{ src: "http://icons.example/a.png" }], undefined],
    ["a file", [{ src: "file:///etc/passwd" }], undefined],
    ["a script", [{ src: "javascript:alert(1)" }], undefined],
    ["data that is no picture", [{ src: "data:text/html,<script>" }], undefined],
    ["an invisible character", [{ src: `${src}\u202e` }], undefined],
    ["a line break", [{ src: `${src}\n` }], undefined],
    ["a user name in the address", [{ src: "https://bank.example@evil.example/" }], undefined],
    ["a long address", [{ src: `https://icons.example/${"a".repeat(2048)}` }], undefined],
    ["much data", [{ src: `data:image/png;base64,${"a".repeat(32 * 1024)}` }], undefined],
  ])("%s", (_, icons, read) => {
    expect(readIcons({ icons }).icons).toEqual(read);
  });

  it("are at most eight, with at most sixteen sizes each", () => {
    const sizes = Array.from({ length: 100 }, (_, each) => `${each}x${each}`);
    const { icons = [] } = readIcons({
      icons: Array.from({ length: 100 }, () => ({ src, sizes })),
    });
    expect(icons.map((each) => each.sizes?.length)).toEqual(Array.from({ length: 8 }, () => 16));
  });

  it("are left out if their address has a secret in it", () => {
    const redact = (text: string): string => text.replace("s3cret", "[redacted]");
    const secret = { src: `${src}?key=s3cret` };
    const without = (item: { icons?: Icon[] }): object => {
      dropSecretIcons(item, redact);
      return item;
    };
    expect(without({ icons: [secret, { src }] })).toEqual({ icons: [{ src }] });
    expect(without({ icons: [secret] })).toEqual({});
    expect(without({})).toEqual({});
  });
});
