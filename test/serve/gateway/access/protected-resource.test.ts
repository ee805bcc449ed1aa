import { describe, expect, it } from "vitest";
import {
  endpointPaths,
  ProtectedResource,
} from "../../../../src/serve/gateway/access/protected-resource.ts";

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

const jwt = {
  issuers: [
    { issuer: "https://a.example", algorithms: ["RS256"] },
    { issuer: "https://b.example", algorithms: ["RS256"] },
  ],
  rights: [
    ...[["plug:code"], ["plug:more", "plug:code", 'no "scope"']].map((has) => {
      return { issuer: "https://a.example", claim: ["scope"], has, agents: ["coder"] };
    }),
    { issuer: "https://b.example", claim: ["groups"], has: ["staff"] },
    { issuer: "https://b.example", claim: ["scope"], has: ["look"], role: "viewer" as const },
  ],
};
const AGENTS = ["default", "coder", "ü x"];

function resource(publicUrl = "https://g.example"): ProtectedResource {
  return new ProtectedResource({ publicUrl, jwt }, "default");
}

it.each([
  ["default", ["/mcp", "/agents/default/mcp"]],
  ["coder", ["/agents/coder/mcp"]],
  ["ü x", ["/agents/%C3%BC%20x/mcp"]],
])("the endpoint of the agent %s is at %j", (agentId, paths) => {
  expect(endpointPaths(agentId, "default")).toEqual(paths);
});

it("the address /mcp is for the agent that is served there, and for no other", () => {
  const served = new ProtectedResource({ publicUrl: "https://g.example", jwt }, "coder");
  expect(served.audiences("coder", "https://a.example").ofEndpoint).toContain(
    "https://g.example/mcp",
  );
  expect(served.audiences("default", "https://a.example").ofEndpoint).not.toContain(
    "https://g.example/mcp",
  );
  expect(served.document(`${WELL_KNOWN}/mcp`, AGENTS)).toMatchObject({
    resource_name: "Plugboard (coder)",
  });
});

describe("the document about an endpoint", () => {
  const issuers = ["https://a.example", "https://b.example"];

  it.each([
    ["/mcp", "https://g.example/mcp", "default"],
    ["/mcp/", "https://g.example/mcp", "default"],
    ["", "https://g.example/mcp", "default"],
    ["/agents/default/mcp", "https://g.example/agents/default/mcp", "default"],
    ["/agents/%C3%BC%20x/mcp", "https://g.example/agents/%C3%BC%20x/mcp", "ü x"],
  ])("at %j is about %s", (path, url, agent) => {
    expect(resource().document(`${WELL_KNOWN}${path}`, AGENTS)).toEqual({
      resource: url,
      authorization_servers: issuers,
      bearer_methods_supported: ["header"],
      resource_name: `Plugboard (${agent})`,
    });
  });

  it("names the scopes of its agent", () => {
    expect(resource().document(`${WELL_KNOWN}/agents/coder/mcp`, AGENTS)).toMatchObject({
      scopes_supported: ["plug:code", "plug:more"],
    });
  });

  it.each(["/plug/mcp", "/mcp"])(
    "of a gateway below a path is found at %s, whatever its proxy passes on",
    (path) => {
      const found = resource("https://g.example/plug").document(`${WELL_KNOWN}${path}`, AGENTS);
      expect(found).toMatchObject({ resource: "https://g.example/plug/mcp" });
    },
  );

  it.each([
    `${WELL_KNOWN}/agents/other/mcp`,
    `${WELL_KNOWN}/agents/../mcp`,
    `${WELL_KNOWN}x/mcp`,
    `${WELL_KNOWN}//mcp`,
    "/.well-known/openid-configuration",
    "/mcp",
  ])("is not at %s", (path) => {
    expect(resource().document(path, AGENTS)).toBeUndefined();
  });

  it("does not exist where the gateway takes no JWTs", () => {
    const plain = new ProtectedResource({ publicUrl: "https://g.example" }, "default");
    expect(plain.document(`${WELL_KNOWN}/mcp`, AGENTS)).toBeUndefined();
  });
});

describe("the challenge", () => {
  it.each<[string, Parameters<ProtectedResource["challenge"]>[0], string | undefined, string]>([
    [
      "no token",
      { agentId: "default" },
      undefined,
      `Bearer resource_metadata="https://g.example${WELL_KNOWN}/mcp"`,
    ],
    [
      "a wrong token for an agent with scopes",
      { agentId: "coder", error: "invalid_token" },
      undefined,
      `Bearer error="invalid_token", resource_metadata="https://g.example${WELL_KNOWN}/agents/coder/mcp", scope="plug:code plug:more"`,
    ],
    [
      "a gateway below a path",
      { agentId: "default" },
      "https://g.example/plug",
      `Bearer resource_metadata="https://g.example${WELL_KNOWN}/plug/mcp"`,
    ],
    [
      "the gateway as a whole",
      { error: "insufficient_scope" },
      undefined,
      'Bearer error="insufficient_scope"',
    ],
  ])("for %s", (_, challenge, publicUrl, header) => {
    expect(resource(publicUrl).challenge(challenge)).toBe(header);
  });
});
