// Who is measured. A limit shows what the machine allows, a peer is what a user could pick instead.

import { readFileSync } from "node:fs";

export const contenders = [
  { name: "bare", kind: "limit", label: "bare pipe + JSON.parse", measures: ["big"] },
  { name: "hand-written", kind: "limit", label: "hand-written JSON-RPC loop" },
  { name: "plugboard", kind: "own", label: "Plugboard", manifest: "../package.json" },
  peer("sdk-v1", "MCP SDK v1", "@modelcontextprotocol/sdk"),
  peer("sdk-v2", "MCP SDK v2", "@modelcontextprotocol/client"),
  peer("ai-sdk", "@ai-sdk/mcp", "@ai-sdk/mcp"),
  peer("mcporter", "mcporter", "mcporter"),
  peer("langchain", "LangChain adapters", "@langchain/mcp-adapters"),
];

export function takesPart(contender, scenario) {
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
  return { name, kind: "peer", label, manifest: `node_modules/${packageName}/package.json` };
}
