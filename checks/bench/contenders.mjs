// Who is measured. A limit shows what the machine allows, a peer is what a user could pick instead.

import { readFileSync } from "node:fs";

export const contenders = [
  { name: "bare", kind: "limit", label: "bare pipe + JSON.parse", measures: ["big"] },
  { name: "hand-written", kind: "limit", label: "hand-written JSON-RPC loop" },
  { name: "plugboard", kind: "own", label: "Plugboard", manifest: "../../package.json" },
  peer("sdk-v1", "MCP SDK v1", "@modelcontextprotocol/sdk"),
  peer("sdk-v2", "MCP SDK v2", "@modelcontextprotocol/client"),
  peer("ai-sdk", "@ai-sdk/mcp", "@ai-sdk/mcp"),
  peer("mcporter", "mcporter", "mcporter"),
  peer("langchain", "LangChain adapters", "@langchain/mcp-adapters"),
  gateway("bare", "limit", "bare node:http + pipe", { measures: ["sequential", "concurrent"] }),
  gateway("plugboard", "own", "plugboard up", { manifest: "../../package.json" }),
  gateway("plugboard-2026", "own", "plugboard up, 2026-07-28", {
    manifest: "../../package.json",
    // Without sessions.
    measures: ["sequential", "concurrent"],
  }),
  // It starts a server process for every session: a thousand would not fit.
  gateway("supergateway", "peer", "supergateway", { ...from("supergateway"), maxSessions: 20 }),
  gateway("mcp-proxy", "peer", "mcp-proxy", from("mcp-proxy")),
  // It has no sessions.
  gateway("mcporter", "peer", "mcporter serve", {
    ...from("mcporter"),
    measures: ["sequential", "concurrent"],
  }),
];

export function takesPart(contender, scenario) {
  if ((contender.face ?? "client") !== (scenario.face ?? "client")) return false;
  return contender.measures?.includes(scenario.measure) ?? true;
}

/** Its version and the Node it asks for, as installed; nothing for what is written here. */
export function installed(contender) {
  if (contender.manifest === undefined) return {};
  const file = new URL(contender.manifest, import.meta.url);
  const { version, engines } = JSON.parse(readFileSync(file, "utf8"));
  return { version, node: engines?.node };
}

function peer(name, label, packageName) {
  return { name, kind: "peer", label, ...from(packageName) };
}

function gateway(name, kind, label, rest = {}) {
  return { name: `gateway-${name}`, kind, label, face: "gateway", ...rest };
}

function from(packageName) {
  return { manifest: `node_modules/${packageName}/package.json` };
}
