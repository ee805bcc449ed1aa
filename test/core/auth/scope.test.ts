import { describe, expect, it } from "vitest";
import { covers, scopeFor, type ScopeOptions } from "../../../src/core/auth/scope.ts";

const DISCOVERY = { issuer: "https://a.example", authorizationServer: "https://a.example" };

/** What an authorization server's metadata must have. */
const REQUIRED = {
  issuer: "https://a.example",
  authorization_endpoint: "https://a.example/authorize",
  token_endpoint: "https://a.example/token",
  response_types_supported: ["code"],
};

function ask(options: Partial<ScopeOptions>, supported?: string[]): string | undefined {
  const metadata = supported && { ...REQUIRED, scopes_supported: supported };
  return scopeFor({
    settings: {},
    wanted: undefined,
    granted: undefined,
    ...options,
    discovery: { ...DISCOVERY, ...options.discovery, ...(metadata && { metadata }) },
  });
}

const offered = { ...DISCOVERY, scopesSupported: ["x", "y"] };

describe("the scope that is asked for", () => {
  it.each<[string, Partial<ScopeOptions>, string | undefined]>([
    ["nothing is known: none", {}, undefined],
    ["what the server wants", { wanted: "a b", discovery: offered }, "a b"],
    ["else all that it has", { discovery: offered }, "x y"],
    ["else what is configured", { settings: { scope: "c" }, discovery: offered }, "c"],
    ["both, where both say something", { settings: { scope: "c" }, wanted: "a" }, "c a"],
    ["beside what was granted", { granted: "g a", wanted: "a b" }, "g a b"],
  ])("%s", (_, options, scope) => {
    expect(ask(options)).toBe(scope);
  });

  it("has offline access if the server supports it and a person signs in", () => {
    const supported = ["a", "offline_access"];
    expect(ask({ wanted: "a" }, supported)).toBe("a offline_access");
    expect(ask({ wanted: "a offline_access" }, supported)).toBe("a offline_access");
    expect(ask({ wanted: "a" }, ["a"])).toBe("a");
    // A server that names no scopes gives its own.
    expect(ask({}, supported)).toBeUndefined();
    const settings = { grant: "client_credentials" } as const;
    expect(ask({ settings, wanted: "a" }, supported)).toBe("a");
  });
});

it.each([
  ["a b", "a", true],
  ["a b", "b a", true],
  ["a", "a b", false],
  ["ab", "a", false],
  [undefined, "a", false],
  ["a", undefined, true],
  [undefined, "", true],
])("%j covers %j: %s", (granted, wanted, expected) => {
  expect(covers(granted, wanted)).toBe(expected);
});
