import { describe, expect, it } from "vitest";
import { addressRules } from "../../../src/core/net/policy.ts";
import type { NetworkPolicy } from "../../../src/core/net/policy.ts";
import { STRICT } from "./servers.ts";

const POLICIES = {
  strict: STRICT,
  private: { ...STRICT, allowPrivate: true },
  insecure: { ...STRICT, allowInsecure: true },
  allow: { ...STRICT, allow: ["10.0.0.0/8", "fd12::/16", "169.254.169.254", "*.corp.example"] },
} as const satisfies Record<string, NetworkPolicy>;

type PolicyName = keyof typeof POLICIES;

function verdict(policy: NetworkPolicy, url: string, from?: string): string {
  try {
    addressRules(policy).checkUrl(new URL(url), from === undefined ? undefined : new URL(from));
    return "ok";
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe("checkUrl", () => {
  it.each<[string, PolicyName[]]>([
    ["https://example.com/mcp", ["strict", "private", "insecure", "allow"]],
    ["https://93.184.215.14/", ["strict", "private", "insecure", "allow"]],
    ["http://example.com/mcp", ["insecure"]],
    ["http://93.184.215.14/", ["insecure"]],
    ["http://x.corp.example/", ["insecure"]],
    ["http://10.0.0.1/", []],
    ["http://localhost:3000/", ["strict", "private", "insecure", "allow"]],
    ["http://LOCALHOST.:3000/", ["strict", "private", "insecure", "allow"]],
    ["http://app.localhost/", ["strict", "private", "insecure", "allow"]],
    ["http://localhost.example/", ["insecure"]],
    ["http://127.0.0.1/", ["strict", "private", "insecure", "allow"]],
    ["http://2130706433/", ["strict", "private", "insecure", "allow"]],
    ["http://[::1]/", ["strict", "private", "insecure", "allow"]],
    ["http://[::ffff:127.0.0.1]/", ["strict", "private", "insecure", "allow"]],
    ["https://10.0.0.1/", ["private", "allow"]],
    ["https://0xa000001/", ["private", "allow"]],
    ["https://012.0.0.1/", ["private", "allow"]],
    ["https://167772161/", ["private", "allow"]],
    ["https://10.1/", ["private", "allow"]],
    ["https://[::ffff:10.0.0.1]/", ["private", "allow"]],
    ["https://[fd12::1]/", ["private", "allow"]],
    ["https://[fd13::1]/", ["private"]],
    ["https://192.168.0.1/", ["private"]],
    ["https://169.254.169.254/latest", ["private", "allow"]],
    ["https://[fe80::1]/", ["private"]],
    ["https://[64:ff9b::a00:1]/", ["private"]],
    ["https://0.0.0.0/", []],
    ["https://0/", []],
    ["https://[::]/", []],
    ["https://224.0.0.1/", []],
    ["https://user:password@example.com/", []],
    ["https://user@example.com/", []],
    ["ftp://example.com/", []],
    ["file:///etc/passwd", []],
    ["javascript:alert(1)", []],
    ["data:text/plain,x", []],
  ])("%s may be asked for under %j", (url, allowing) => {
    const names = Object.keys(POLICIES) as PolicyName[];
    expect(names.filter((name) => verdict(POLICIES[name], url) === "ok")).toEqual(
      names.filter((name) => allowing.includes(name)),
    );
  });

  it.each([
    ["https://example.com/", "http://127.0.0.1:9200/", STRICT, "REFUSED_ADDRESS"],
    ["https://example.com/", "http://localhost:9200/", STRICT, "REFUSED_ADDRESS"],
    ["https://example.com/", "http://localhost/", POLICIES.private, "ok"],
    ["https://example.com/", "http://localhost/", { ...STRICT, allow: ["localhost"] }, "ok"],
    ["https://example.com/", "https://[::1]/", { ...STRICT, allow: ["::1"] }, "ok"],
    ["http://localhost:1/", "http://127.0.0.1:2/", STRICT, "ok"],
    ["https://example.com/", "http://example.com/", STRICT, "REFUSED_ADDRESS"],
    ["https://example.com/", "https://169.254.169.254/", STRICT, "REFUSED_ADDRESS"],
  ])("a redirect from %s to %s under %j: %s", (from, to, policy, expected) => {
    expect(verdict(policy, to, from)).toBe(expected);
  });

  it.each([
    [
      "http://example.com/mcp?key=1",
      /http:\/\/example.com\/mcp\?… is plain http/,
      /allowInsecure/,
      "allowInsecure",
    ],
    [
      "https://10.0.0.1/",
      /10\.0\.0\.1 is a private address/,
      /allowPrivate.*network\.allow/,
      "allowPrivate",
    ],
    ["https://me:hunter2@example.com/", /user name or password/, /headers/, undefined],
    ["ws://example.com/", /ws: is not a scheme/, /https/, undefined],
  ])("says for %s what is wrong and what to do", (url, message, hint, allowedBy) => {
    expect(() => addressRules(STRICT).checkUrl(new URL(url))).toThrow(
      expect.objectContaining({
        code: "REFUSED_ADDRESS",
        permanent: true,
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
        allowedBy,
      }),
    );
    expect(() => addressRules(STRICT).checkUrl(new URL(url))).not.toThrow(/hunter2|key=1/);
  });

  it.each([
    ["http://far.example/mcp", 'use https, or add "http://far.example" to network.allow'],
    ["http://10.0.0.1:8080/mcp", 'use https, or add "http://10.0.0.1" to network.allow'],
    ["https://10.0.0.1/", 'add "10.0.0.1" to network.allow'],
  ])("names for %s what helps with a server of a session, and it does", (url, hint) => {
    const policy = { ...STRICT, isOfSession: true };
    expect(() => addressRules(policy).checkUrl(new URL(url))).toThrow(
      expect.objectContaining({ hint, allowedBy: undefined }),
    );
    const [, entry = ""] = /add "(.*)"/.exec(hint) ?? [];
    expect(verdict({ ...policy, allow: [entry] }, url)).toBe("ok");
  });
});

describe("checkAddress", () => {
  it.each<[string, string, PolicyName[]]>([
    ["example.com", "93.184.215.14", ["strict", "private", "insecure", "allow"]],
    ["example.com", "10.0.0.1", ["private", "allow"]],
    ["example.com", "::ffff:10.0.0.1", ["private", "allow"]],
    ["example.com", "192.168.0.1", ["private"]],
    ["example.com", "127.0.0.1", ["private"]],
    ["git.corp.example", "192.168.0.1", ["private", "allow"]],
    ["GIT.corp.example.", "192.168.0.1", ["private", "allow"]],
    ["corp.example", "192.168.0.1", ["private"]],
    ["git.corp.example", "0.0.0.0", []],
    ["example.com", "not an address", []],
    ["localhost", "127.0.0.1", ["strict", "private", "insecure", "allow"]],
    ["localhost", "::1", ["strict", "private", "insecure", "allow"]],
    ["localhost", "10.0.0.1", []],
    ["app.localhost", "93.184.215.14", []],
  ])("%s at %s may be reached under %j", (host, address, allowing) => {
    const names = Object.keys(POLICIES) as PolicyName[];
    const passing = names.filter((name) => {
      try {
        addressRules(POLICIES[name]).checkAddress(host, address);
        return true;
      } catch {
        return false;
      }
    });
    expect(passing).toEqual(names.filter((name) => allowing.includes(name)));
  });
});

describe("network.allow", () => {
  it.each<[string, string, string]>([
    ["http://far.example", "http://far.example/", "ok"],
    ["HTTP://Far.example", "http://far.example:8080/", "ok"],
    ["http://*.corp.example", "http://git.corp.example/", "ok"],
    ["http://10.0.0.0/8", "http://10.1.2.3/", "ok"],
    ["http://10.0.0.0/8", "https://10.1.2.3/", "ok"],
    ["http://far.example", "http://other.example/", "REFUSED_ADDRESS"],
    ["far.example", "http://far.example/", "REFUSED_ADDRESS"],
    ["10.0.0.0/8", "http://10.1.2.3/", "REFUSED_ADDRESS"],
  ])("with %j, of %s: %s", (entry, url, expected) => {
    expect(verdict({ ...STRICT, allow: [entry] }, url)).toBe(expected);
  });

  it.each(["", "*", "10.0.0.0/33", "10.0.0.0/x", "https://example.com", "example.com:443", "a b"])(
    "does not take %j",
    (entry) => {
      expect(() => addressRules({ ...STRICT, allow: [entry] })).toThrow(
        expect.objectContaining({ code: "CONFIG_INVALID" }),
      );
    },
  );
});
