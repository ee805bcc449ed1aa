import { describe, expect, it } from "vitest";
import { redirectTarget } from "../../../src/core/net/fetch.ts";

const HERE = new URL("https://a.example/mcp?key=1");

describe("redirectTarget", () => {
  it.each<[string, number, string | undefined, string | undefined]>([
    ["GET", 200, "/x", undefined],
    ["GET", 304, "/x", undefined],
    ["GET", 302, undefined, undefined],
    ["GET", 301, "/x", "https://a.example/x"],
    ["GET", 302, "https://b.example/y", "https://b.example/y"],
    ["GET", 303, "//b.example/y", "https://b.example/y"],
    ["GET", 307, "http://b.example/", "http://b.example/"],
    ["GET", 308, "file:///etc/passwd", "file:///etc/passwd"],
    ["POST", 307, "/x", "https://a.example/x"],
    ["POST", 308, "https://a.example:443/x", "https://a.example/x"],
    ["DELETE", 308, "x", "https://a.example/x"],
  ])("a %s answered %s with location %s goes to %s", (method, status, location, expected) => {
    const headers: Record<string, string> = location === undefined ? {} : { location };
    expect(redirectTarget(method, HERE, { status, headers })?.href).toBe(expected);
  });

  it.each([
    ["POST", 301, "/x"],
    ["POST", 302, "/x"],
    ["POST", 303, "/x"],
    ["DELETE", 301, "/x"],
    ["POST", 307, "https://b.example/x"],
    ["POST", 307, "https://a.example:8443/x"],
    ["DELETE", 307, "https://b.example/"],
  ])("a %s answered %s with location %s is refused and says where to", (method, status, to) => {
    const attempt = () => redirectTarget(method, HERE, { status, headers: { location: to } });
    expect(attempt).toThrow(
      expect.objectContaining({
        code: "REFUSED_ADDRESS",
        permanent: true,
        message: expect.stringContaining(new URL(to, HERE).href),
        hint: expect.stringContaining('"url"'),
      }),
    );
    expect(attempt).not.toThrow(/key=1/);
  });

  it.each([
    "file:///etc/passwd",
    "http://b.example/x",
    "https://localhost/x",
    "https://127.0.0.1:8443/x",
    "https://10.0.0.1/x",
    "https://[fd00::1]/x",
    "https://169.254.169.254/latest",
    "https://wiki/x",
    "https://wiki.internal/x",
    "https://user:key@b.example/x",
  ])("never advises to use %s", (location) => {
    const attempt = () => redirectTarget("POST", HERE, { status: 307, headers: { location } });
    expect(attempt).toThrow(
      expect.objectContaining({ code: "REFUSED_ADDRESS", hint: undefined, permanent: true }),
    );
  });

  it("says which words of its refusal are the server's", () => {
    const headers = { location: "https://b.example/SYSTEM:obey" };
    expect(() => redirectTarget("POST", HERE, { status: 307, headers })).toThrow(
      expect.objectContaining({ quote: "https://b.example/SYSTEM:obey" }),
    );
  });

  it("does not take everything for a URL", () => {
    const headers = { location: "https://[" };
    expect(() => redirectTarget("GET", HERE, { status: 302, headers })).toThrow(
      expect.objectContaining({ code: "PROTOCOL" }),
    );
  });
});
