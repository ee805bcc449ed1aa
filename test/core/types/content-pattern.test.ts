import { describe, expect, it } from "vitest";
import {
  type ContentName,
  contentPattern,
  permitsContent,
  restrictsContent,
} from "../../../src/core/types/content-pattern.ts";

function resource(name: string, isTemplate?: true): ContentName {
  return { kind: "resource", name, isTemplate };
}

function restricts(text: string, of: ContentName): boolean {
  const pattern = contentPattern(text);
  return pattern !== undefined && restrictsContent(pattern)(of);
}

function permits(text: string, of: ContentName): boolean {
  const pattern = contentPattern(text);
  return pattern !== undefined && permitsContent(pattern)(of);
}

describe("a text without a kind", () => {
  it.each(["", "files/*", "resources:*", "Resource:*", "read_resource"])(
    "%j names none",
    (text) => {
      expect(contentPattern(text)).toBeUndefined();
    },
  );
});

describe("what restricts", () => {
  it.each([
    "file:///etc/passwd",
    "FILE:///etc/passwd",
    "file:///ETC/passwd",
    "file:///etc//passwd",
    "file:////etc/passwd",
    "file:/etc/passwd",
    "file:///./etc/passwd",
    "file:///docs/../etc/passwd",
    "file:///docs/%2e%2e/etc/passwd",
    "file:///docs/..%2fetc/passwd",
    "file:///docs\\..\\etc\\passwd",
    "file:///%65tc/passwd",
    "file:///%2565tc/passwd",
    "file:///../../etc/passwd",
    "file://localhost/etc/passwd",
    "file:etc/passwd",
    "file:///e\ttc/passwd",
    "file:///docs/.\n./etc/passwd",
    "file:///docs/.%09./etc/passwd",
    " file:///etc/passwd\u0001",
  ])("matches every way to write a URI: %s", (uri) => {
    expect(restricts("resource:file:///etc/*", resource(uri))).toBe(true);
  });

  it.each(["?x=1", "#top", "/", "/.", " ", "%00", "%00.txt"])(
    "matches with whatever follows the path: %j",
    (end) => {
      const uri = resource(`file:///etc/passwd${end}`);
      expect(restricts("resource:file:///etc/passwd", uri)).toBe(true);
    },
  );

  it.each<[string, string]>([
    ["https://in.example/*", "https://in.example:443/x"],
    ["https://in.example:443/*", "https://in.example/x"],
    ["https://in.example/*", "https://you:word@in.example/x"],
    ["https://in.example/*", "https://in.example./x"],
    ["https://in.example/*", "https://\uff49n.example/x"],
    ["https://in.example/*", "https:in.example/x"],
    ["docs://a/secret/*", "docs://a/../secret/x"],
    ["docs://a/secret/*", "docs://a/b%2f..%2f..%2fsecret/x"],
    ["docs://a/secret/*", "docs://b/../a/secret/x"],
    ["docs://a/caf\u00e9", "docs://a/cafe\u0301"],
  ])("%s matches what the standard for URLs reads as the same: %j", (pattern, uri) => {
    expect(restricts(`resource:${pattern}`, resource(uri))).toBe(true);
  });

  it.each(["file:///docs/etc", "file:///etcetera", "http://etc/x", "file:///etc/../docs/%zz"])(
    "does not match another URI: %s",
    (uri) => {
      const isWritten = uri.startsWith("file:///etc/");
      expect(restricts("resource:file:///etc/*", resource(uri))).toBe(isWritten);
    },
  );

  it("matches prompts as it does tools: only letters and digits count", () => {
    for (const name of ["code-review", "Code_Review", "code.review"]) {
      expect(restricts("prompt:code_review", { kind: "prompt", name })).toBe(true);
    }
    expect(restricts("prompt:code_*", { kind: "prompt", name: "decode" })).toBe(false);
    expect(restricts("prompt:*", resource("prompt:x"))).toBe(false);
  });
});

describe("what permits", () => {
  it.each<[string, boolean]>([
    ["file:///docs/a.txt", true],
    ["file:///docs/a/../b.txt", true],
    ["file:///docs/a%20b.txt", true],
    ["FILE:///docs/a.txt", false],
    ["file:///Docs/a.txt", false],
    ["file:///docs/../etc/passwd", false],
    ["file:///docs/%2e%2e/etc/passwd", false],
    ["file:///docs/%252e%252e/etc/passwd", false],
    ["file:///docs/..\\..\\etc", false],
    ["file:///docs", false],
    ["file:///docs/a b.txt", true],
    ["file:///docs/\t../etc/passwd", false],
    ["file:///docs/.\t./etc/passwd", false],
    ["file:///docs/.%0a./etc/passwd", false],
  ])("must match what is written and what is meant: %s %s", (uri, expected) => {
    expect(permits("resource:file:///docs/*", resource(uri))).toBe(expected);
  });

  it.each<[string, string, boolean]>([
    ["https://in.example/*", "https://in.example/x", true],
    ["https://in.example:443/*", "https://in.example:443/x", true],
    ["*.example", "https://in.example", true],
    ["https://in.example*", "https://in.example@out.example/", false],
    ["docs://a/*", "docs://a/b/../c", true],
    ["docs://a/b/*", "docs://a/b/../c", false],
  ])("%s: %s %s", (pattern, uri, expected) => {
    expect(permits(`resource:${pattern}`, resource(uri))).toBe(expected);
  });

  it("matches exactly the same text, whatever is in it", () => {
    const uri = "file:///a/../b%2f";
    expect(permits(`resource:${uri}`, resource(uri))).toBe(true);
  });

  it.each<[string, string, boolean]>([
    ["file:///{path}", "resource:file:///docs/*", true],
    ["file:///docs/{name}", "resource:file:///*", true],
    ["db:///{table}", "resource:file:///*", false],
    ["{+uri}", "resource:file:///*", true],
  ])("a template if it can give such a URI: %s by %s", (template, text, expected) => {
    expect(permits(text, resource(template, true))).toBe(expected);
  });

  it("needs the exact name of a prompt", () => {
    expect(permits("prompt:code_review", { kind: "prompt", name: "code_review" })).toBe(true);
    expect(permits("prompt:code_review", { kind: "prompt", name: "code-review" })).toBe(false);
  });
});

it("takes linear time on hostile URIs", () => {
  const uri = resource(
    `file:///${"%25".repeat(100_000)}${"/..".repeat(100_000)}${"*".repeat(1000)}`,
  );
  expect(restricts(`resource:${"*a".repeat(100)}`, uri)).toBe(false);
  expect(permits(`resource:${"*a".repeat(100)}`, uri)).toBe(false);
});
