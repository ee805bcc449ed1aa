import { describe, expect, it } from "vitest";
import { proxyFor } from "../../../src/core/net/proxy.ts";
import type { Environment } from "../../../src/util/environment.ts";

const BOTH = { HTTPS_PROXY: "http://secure:1", HTTP_PROXY: "http://plain:2" };

describe("proxyFor", () => {
  it.each<[string, Environment, string | undefined]>([
    ["https://example.com/", {}, undefined],
    ["https://example.com/", BOTH, "http://secure:1/"],
    ["http://example.com/", BOTH, "http://plain:2/"],
    ["https://example.com/", { HTTP_PROXY: "http://plain:2" }, undefined],
    ["https://example.com/", { https_proxy: "http://lower:3", ...BOTH }, "http://lower:3/"],
    ["https://example.com/", { https_proxy: "", ...BOTH }, "http://secure:1/"],
    ["https://example.com/", { ALL_PROXY: "http://all:4" }, "http://all:4/"],
    ["http://example.com/", { all_proxy: "all:4" }, "http://all:4/"],
    ["https://example.com/", { HTTPS_PROXY: "https://p:5" }, "https://p:5/"],
    ["http://localhost:3000/", BOTH, undefined],
    ["http://127.0.0.1:3000/", BOTH, undefined],
    ["https://[::1]/", BOTH, undefined],
  ])("%s with %j: %s", (url, env, expected) => {
    expect(proxyFor(new URL(url), env)?.href).toBe(expected);
  });

  it.each<[string, string, boolean]>([
    ["https://example.com/", "*", true],
    ["https://example.com/", "example.com", true],
    ["https://EXAMPLE.com./", "Example.COM", true],
    ["https://api.example.com/", "example.com", true],
    ["https://api.example.com/", ".example.com", true],
    ["https://api.example.com/", "*.example.com", true],
    ["https://badexample.com/", "example.com", false],
    ["https://example.com/", "other.example, example.com", true],
    ["https://example.com/", "other.example example.com", true],
    ["https://example.com/", "", false],
    ["https://example.com/", ",,", false],
    ["https://example.com/", "example.com:443", true],
    ["https://example.com/", "example.com:8443", false],
    ["https://example.com:8443/", "example.com:8443", true],
    ["http://example.com/", "example.com:80", true],
    ["https://10.1.2.3/", "10.0.0.0/8", true],
    ["https://10.1.2.3/", "10.1.2.3", true],
    ["https://11.1.2.3/", "10.0.0.0/8", false],
    ["https://[fd00::1]:8443/", "[fd00::1]:8443", true],
    ["https://[fd00::1]/", "fd00::/8", true],
  ])("%s with NO_PROXY=%j goes direct: %s", (url, noProxy, direct) => {
    const all = { ALL_PROXY: "http://all:4", NO_PROXY: noProxy };
    expect(proxyFor(new URL(url), all) === undefined).toBe(direct);
    const lower = { all_proxy: "http://all:4", no_proxy: noProxy };
    expect(proxyFor(new URL(url), lower) === undefined).toBe(direct);
  });

  it.each([
    ["http://me:hunter2@ :1", "CONFIG_INVALID"],
    ["socks5://me:hunter2@proxy:1080", "UNSUPPORTED"],
  ])("refuses %s rather than go round it, and keeps its password", (value, code) => {
    const attempt = () => proxyFor(new URL("https://example.com/"), { HTTPS_PROXY: value });
    expect(attempt).toThrow(expect.objectContaining({ code, permanent: true }));
    expect(attempt).not.toThrow(/hunter2/);
  });
});
